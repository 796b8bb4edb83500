package main

import (
	"fmt"
	"log"
	"net/http"
	"regexp"
)

func main() {
	response, err := http.Get("https://causeway.example/v0.2/search/museum?apiKey=PUBLIC_KEY")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	found := regexp.MustCompile(`r=(\d+);t=(\d+)`).FindStringSubmatch(response.Header.Get("RateLimit"))
	if found == nil {
		log.Fatal("the response has no RateLimit")
	}
	fmt.Printf("%s requests left; the oldest one stops counting in %s seconds\n", found[1], found[2])
}
