package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
	"time"
)

func main() {
	body := `{
		"nonprofitId": "d9017b27-edb0-54b2-b0c1-533033c82832",
		"title": "Spring run",
		"description": "We run along the river.",
		"goal": 500000
	}`
	request, err := http.NewRequest("POST", "https://causeway.example/v0.2/fundraiser", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.SetBasicAuth("PUBLIC_KEY", "PRIVATE_KEY")
	request.Header.Set("Content-Type", "application/json")
	// Send the same key again when you retry.
	request.Header.Set("Idempotency-Key", fmt.Sprint(time.Now().UnixNano()))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var created struct {
		Code, Detail string
		Data         struct {
			Fundraiser struct{ URL string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&created); err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatal(created.Code, ": ", created.Detail)
	}
	fmt.Println(created.Data.Fundraiser.URL)
}
