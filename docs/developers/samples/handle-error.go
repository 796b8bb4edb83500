package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
)

type problem struct {
	Code, Detail, RequestID string
}

func main() {
	response, err := http.Get("https://causeway.example/v0.2/nonprofit/no-such-nonprofit?apiKey=PUBLIC_KEY")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		fmt.Println("found")
		return
	}
	var problem problem
	if err := json.NewDecoder(response.Body).Decode(&problem); err != nil {
		log.Fatal(err)
	}
	if problem.Code != "nonprofit_not_found" {
		log.Fatalf("%s: %s (request %s)", problem.Code, problem.Detail, problem.RequestID)
	}
	fmt.Println("Not in the directory:", problem.Detail)
}
