package main

import (
	"bufio"
	"fmt"
	"log"
	"net/http"
	"regexp"
)

func main() {
	next := regexp.MustCompile(`<(.*)>; rel="next"`)
	url := "https://causeway.example/v0.2/export?take=50000"
	count := 0
	cursor := ""
	for url != "" {
		request, err := http.NewRequest("GET", url, nil)
		if err != nil {
			log.Fatal(err)
		}
		request.SetBasicAuth("PUBLIC_KEY", "PRIVATE_KEY")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		if response.StatusCode != http.StatusOK {
			log.Fatal(response.Status)
		}
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			count++ // each line is a nonprofit as JSON; store it by its id
		}
		if err := lines.Err(); err != nil {
			log.Fatal(err)
		}
		response.Body.Close()
		cursor = response.Header.Get("Changes-Cursor")
		url = ""
		// The last part has no Link header.
		if link := next.FindStringSubmatch(response.Header.Get("Link")); link != nil {
			url = link[1]
		}
	}
	fmt.Println(count, "nonprofits; continue with the changes since", cursor)
}
