require "json"
require "net/http"

url = "https://causeway.example/v0.2/export?take=50000"
count = 0
cursor = nil
while url
  uri = URI(url)
  request = Net::HTTP::Get.new(uri)
  request.basic_auth("PUBLIC_KEY", "PRIVATE_KEY")
  response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
  response.value # raises if the request failed
  response.body.each_line do |line|
    nonprofit = JSON.parse(line) # store it by nonprofit["id"]
    count += 1
  end
  cursor = response["Changes-Cursor"]
  url = response["Link"]&.slice(/<(.*)>; rel="next"/, 1) # the last part has none
end
puts "#{count} nonprofits; continue with the changes since #{cursor}"
