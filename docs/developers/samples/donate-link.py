from urllib.parse import urlencode

query = urlencode({
    "amount": 25,
    "suggestedAmounts": "10,25,50",
    "partner_donation_id": "order-17",
})
print(f"https://causeway.example/american-red-cross/give?{query}")
