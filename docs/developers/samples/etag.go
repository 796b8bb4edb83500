package main

import (
	"fmt"
	"log"
	"net/http"
)

func get(tag string) *http.Response {
	request, err := http.NewRequest("GET", "https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY", nil)
	if err != nil {
		log.Fatal(err)
	}
	if tag != "" {
		request.Header.Set("If-None-Match", tag)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	response.Body.Close()
	return response
}

func main() {
	first := get("")
	second := get(first.Header.Get("ETag"))
	fmt.Println(first.StatusCode, second.StatusCode) // 200 304
}
