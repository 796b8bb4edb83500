package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
)

func main() {
	query := url.Values{
		"causes":      {"food-security,humans"}, // at least one of them
		"near":        {"97201"},
		"radius":      {"200"}, // miles
		"disbursable": {"1"},   // only nonprofits that can receive donations
		"apiKey":      {"PUBLIC_KEY"},
	}
	response, err := http.Get("https://causeway.example/v0.2/search/food%20bank?" + query.Encode())
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var body struct {
		Nonprofits []struct {
			Name          string
			DistanceMiles float64
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		log.Fatal(err)
	}
	for _, nonprofit := range body.Nonprofits {
		fmt.Printf("%s: %g miles\n", nonprofit.Name, nonprofit.DistanceMiles)
	}
}
