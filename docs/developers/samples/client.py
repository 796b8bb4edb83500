from causeway_client import Causeway, NotFoundError

with Causeway("https://causeway.example", "PUBLIC_KEY") as causeway:
    for nonprofit in causeway.search("red cro", take=5).nonprofits:
        print(nonprofit.name, nonprofit.profile_url)
    try:
        causeway.nonprofit("no-such-nonprofit")
    except NotFoundError as error:
        print(error.detail)
