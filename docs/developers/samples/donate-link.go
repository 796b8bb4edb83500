package main

import (
	"fmt"
	"net/url"
)

func main() {
	query := url.Values{
		"amount":              {"25"},
		"suggestedAmounts":    {"10,25,50"},
		"partner_donation_id": {"order-17"},
	}
	fmt.Println("https://causeway.example/american-red-cross/give?" + query.Encode())
}
