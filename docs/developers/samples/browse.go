package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
)

type page struct {
	Nonprofits []struct{ Name, EIN string }
	Pagination struct{ Pages int }
}

func main() {
	for number, pages := 1, 1; number <= pages; number++ {
		url := fmt.Sprintf("https://causeway.example/v0.2/browse/animals?take=100&page=%d&apiKey=PUBLIC_KEY", number)
		response, err := http.Get(url)
		if err != nil {
			log.Fatal(err)
		}
		var body page
		err = json.NewDecoder(response.Body).Decode(&body)
		response.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		for _, nonprofit := range body.Nonprofits {
			fmt.Println(nonprofit.EIN, nonprofit.Name)
		}
		pages = body.Pagination.Pages
	}
}
