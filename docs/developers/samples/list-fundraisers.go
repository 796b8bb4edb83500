package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
)

// read sends a request with both keys and decodes the response.
func read(path string, into any) {
	request, err := http.NewRequest("GET", "https://causeway.example/v0.2/"+path, nil)
	if err != nil {
		log.Fatal(err)
	}
	request.SetBasicAuth("PUBLIC_KEY", "PRIVATE_KEY")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		log.Fatal(err)
	}
}

func main() {
	var list struct {
		Fundraisers []struct{ NonprofitID, Slug, Title, Type string }
	}
	read("fundraisers?take=20", &list)
	if len(list.Fundraisers) == 0 {
		fmt.Println("You have no fundraisers yet.")
	}
	for _, fundraiser := range list.Fundraisers {
		nonprofit := fundraiser.NonprofitID
		if fundraiser.Type == "MULTIPLE_NONPROFITS" {
			nonprofit = "special-fundraiser"
		}
		var total struct{ Raised, GoalAmount int }
		read("nonprofit/"+nonprofit+"/fundraiser/"+fundraiser.Slug+"/raised?apiKey=PUBLIC_KEY", &total)
		fmt.Printf("%s: $%d of $%d\n", fundraiser.Title, total.Raised/100, total.GoalAmount/100)
	}
}
