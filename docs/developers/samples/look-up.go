package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
)

func main() {
	response, err := http.Get("https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var body struct {
		Data struct {
			Nonprofit struct{ Name, ProfileURL string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		log.Fatal(err)
	}
	fmt.Println(body.Data.Nonprofit.Name, body.Data.Nonprofit.ProfileURL)
}
