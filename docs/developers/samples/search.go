package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
)

func main() {
	term := url.PathEscape("docters without bor")
	query := url.Values{"take": {"5"}, "apiKey": {"PUBLIC_KEY"}}
	response, err := http.Get("https://causeway.example/v0.2/search/" + term + "?" + query.Encode())
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var body struct {
		Nonprofits []struct{ Name, Location string }
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		log.Fatal(err)
	}
	for _, nonprofit := range body.Nonprofits {
		fmt.Println(nonprofit.Name, "·", nonprofit.Location)
	}
}
