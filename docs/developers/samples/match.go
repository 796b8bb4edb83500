package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strings"
)

func main() {
	body := `{"rows": [
		{"id": "1", "name": "Amercan Red Cross", "city": "Washington", "state": "DC"},
		{"id": "2", "ein": "13-1788491"}
	]}`
	request, err := http.NewRequest("POST", "https://causeway.example/v0.2/match", strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.SetBasicAuth("PUBLIC_KEY", "PRIVATE_KEY")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var matched struct {
		Code, Detail string
		Rows         []struct {
			ID         string
			Match      bool
			Candidates []struct{ Name string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&matched); err != nil {
		log.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		log.Fatal(matched.Code, ": ", matched.Detail)
	}
	for _, row := range matched.Rows {
		best := "nothing similar"
		if len(row.Candidates) > 0 {
			best = row.Candidates[0].Name
		}
		fmt.Printf("row %s: %s, certain: %t\n", row.ID, best, row.Match)
	}
}
