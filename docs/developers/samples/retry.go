package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"time"
)

// get tries a request up to five times and waits as long as the server asks.
func get(url string) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		response, err := http.Get(url)
		if err != nil || attempt == 5 {
			return response, err
		}
		if response.StatusCode != 429 && response.StatusCode != 503 {
			return response, nil
		}
		response.Body.Close()
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil {
			seconds = 1
		}
		time.Sleep(time.Duration(seconds) * time.Second)
	}
}

func main() {
	response, err := get("https://causeway.example/v0.2/causes?apiKey=PUBLIC_KEY")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var body struct{ Causes []struct{ Title string } }
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(body.Causes), "causes")
}
