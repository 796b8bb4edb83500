package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
)

func main() {
	queries := `{
		"q0": {"query": "Amercan Red Cross", "properties": [{"pid": "city", "v": "Washington"}]},
		"q1": {"query": "13-1788491"}
	}`
	form := url.Values{"queries": {queries}}
	response, err := http.PostForm("https://causeway.example/reconcile?apiKey=PUBLIC_KEY", form)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	var found map[string]struct {
		Result []struct {
			Name  string
			Score int
			Match bool
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		log.Fatal(err)
	}
	for query, candidates := range found {
		for _, candidate := range candidates.Result {
			fmt.Println(query, candidate.Name, candidate.Score, candidate.Match)
		}
	}
}
