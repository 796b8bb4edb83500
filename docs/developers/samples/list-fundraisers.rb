require "json"
require "net/http"

url = URI("https://causeway.example/v0.2/fundraisers?take=20")
request = Net::HTTP::Get.new(url)
request.basic_auth("PUBLIC_KEY", "PRIVATE_KEY")
response = Net::HTTP.start(url.host, url.port, use_ssl: url.scheme == "https") { |http| http.request(request) }
fundraisers = JSON.parse(response.body)["fundraisers"]
puts "You have no fundraisers yet." if fundraisers.empty?
fundraisers.each do |fundraiser|
  is_multiple = fundraiser["type"] == "MULTIPLE_NONPROFITS"
  nonprofit = is_multiple ? "special-fundraiser" : fundraiser["nonprofitId"]
  path = "nonprofit/#{nonprofit}/fundraiser/#{fundraiser["slug"]}/raised"
  total = JSON.parse(Net::HTTP.get(URI("https://causeway.example/v0.2/#{path}?apiKey=PUBLIC_KEY")))
  puts "#{fundraiser["title"]}: $#{total["raised"] / 100.0} of $#{total["goalAmount"] / 100.0}"
end
