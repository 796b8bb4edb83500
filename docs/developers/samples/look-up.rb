require "json"
require "net/http"

url = URI("https://causeway.example/v0.2/nonprofit/530196605?apiKey=PUBLIC_KEY")
nonprofit = JSON.parse(Net::HTTP.get(url))["data"]["nonprofit"]
puts "#{nonprofit["name"]} #{nonprofit["profileUrl"]}"
