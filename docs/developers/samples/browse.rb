require "json"
require "net/http"

page = pages = 1
while page <= pages
  query = URI.encode_www_form(take: 100, page: page, apiKey: "PUBLIC_KEY")
  body = JSON.parse(Net::HTTP.get(URI("https://causeway.example/v0.2/browse/animals?#{query}")))
  body["nonprofits"].each { |nonprofit| puts "#{nonprofit["ein"]} #{nonprofit["name"]}" }
  pages = body["pagination"]["pages"]
  page += 1
end
