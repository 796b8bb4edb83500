require "uri"

query = URI.encode_www_form(
  amount: 25,
  suggestedAmounts: "10,25,50",
  partner_donation_id: "order-17"
)
puts "https://causeway.example/american-red-cross/give?#{query}"
