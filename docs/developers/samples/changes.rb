require "json"
require "net/http"

since = "" # the cursor that you stored: of an export, or of the last page
loop do
  url = URI("https://causeway.example/v0.2/changes?take=1000&since=#{since}")
  request = Net::HTTP::Get.new(url)
  request.basic_auth("PUBLIC_KEY", "PRIVATE_KEY")
  response = Net::HTTP.start(url.host, url.port, use_ssl: url.scheme == "https") { |http| http.request(request) }
  response.value # raises if the request failed; after status 410, export the directory again
  page = JSON.parse(response.body)
  page["changes"].each do |change|
    puts "#{change["type"]} #{change["nonprofit"]["id"]} #{change["nonprofit"]["name"]}"
  end
  since = page["cursor"]
  break unless page["hasMore"]
end
puts "store this cursor for the next time: #{since}"
