require "erb"
require "json"
require "net/http"

term = ERB::Util.url_encode("docters without bor")
query = URI.encode_www_form(take: 5, apiKey: "PUBLIC_KEY")
body = Net::HTTP.get(URI("https://causeway.example/v0.2/search/#{term}?#{query}"))
JSON.parse(body)["nonprofits"].each do |nonprofit|
  puts "#{nonprofit["name"]} · #{nonprofit["location"]}"
end
