package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
)

func main() {
	since := "" // the cursor that you stored: of an export, or of the last page
	for hasMore := true; hasMore; {
		request, err := http.NewRequest("GET", "https://causeway.example/v0.2/changes?take=1000&since="+since, nil)
		if err != nil {
			log.Fatal(err)
		}
		request.SetBasicAuth("PUBLIC_KEY", "PRIVATE_KEY")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		// Status 410: export the directory again.
		if response.StatusCode != http.StatusOK {
			log.Fatal(response.Status)
		}
		var page struct {
			Changes []struct {
				Type      string
				Nonprofit struct{ ID, Name string }
			}
			Cursor  string
			HasMore bool
		}
		err = json.NewDecoder(response.Body).Decode(&page)
		response.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		for _, change := range page.Changes {
			fmt.Println(change.Type, change.Nonprofit.ID, change.Nonprofit.Name)
		}
		since, hasMore = page.Cursor, page.HasMore
	}
	fmt.Println("store this cursor for the next time:", since)
}
