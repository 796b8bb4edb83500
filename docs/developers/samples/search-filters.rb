require "json"
require "net/http"

query = URI.encode_www_form(
  causes: "food-security,humans", # at least one of them
  near: "97201",
  radius: 200, # miles
  disbursable: 1, # only nonprofits that can receive donations
  apiKey: "PUBLIC_KEY"
)
body = Net::HTTP.get(URI("https://causeway.example/v0.2/search/food%20bank?#{query}"))
JSON.parse(body)["nonprofits"].each do |nonprofit|
  puts "#{nonprofit["name"]}: #{nonprofit["distanceMiles"]} miles"
end
