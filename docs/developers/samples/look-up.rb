require "json"
require "net/http"

url = URI("https://causeway.example/v0.2/nonprofit/american-red-cross?apiKey=PUBLIC_KEY")
nonprofit = JSON.parse(Net::HTTP.get(url))["data"]["nonprofit"]
puts "#{nonprofit["name"]} #{nonprofit["profileUrl"]}"
