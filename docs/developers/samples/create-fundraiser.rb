require "json"
require "net/http"
require "securerandom"

url = URI("https://causeway.example/v0.2/fundraiser")
request = Net::HTTP::Post.new(url)
request.basic_auth("PUBLIC_KEY", "PRIVATE_KEY")
request["Content-Type"] = "application/json"
request["Idempotency-Key"] = SecureRandom.uuid # send the same one again when you retry
request.body = JSON.generate(
  nonprofitId: "d9017b27-edb0-54b2-b0c1-533033c82832",
  title: "Spring run",
  description: "We run along the river.",
  goal: 500_000 # cents
)
response = Net::HTTP.start(url.host, url.port, use_ssl: url.scheme == "https") { |http| http.request(request) }
body = JSON.parse(response.body)
abort("#{body["code"]}: #{body["detail"]}") unless response.is_a?(Net::HTTPSuccess)
puts body["data"]["fundraiser"]["url"]
