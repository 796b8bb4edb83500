//! The client of a request.

use crate::app::App;
use crate::http::request_record::RequestRecord;
use access::limits::call::Owner;
use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use ipnet::IpNet;
use listener::{ClientAddress, client_network};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// The address of a client, and its network, by which rate limits count.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    pub address: IpAddr,
    /// The /64 of an IPv6 address, or a single IPv4 address.
    pub network: IpNet,
}

impl Client {
    /// Returns the client whose address the listener attached to a request.
    ///
    /// A request that did not arrive through the listener, as in a test of the router alone, has the unspecified
    /// address.
    pub fn of_request(extensions: &Extensions) -> Client {
        let attached = extensions.get::<ClientAddress>();
        let address = attached.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |client| client.0);
        Client {
            address,
            network: client_network(address),
        }
    }

    /// Returns the network as the owner of calls without a key.
    pub fn owner(&self) -> Owner {
        Owner::Network(self.network.addr())
    }
}

/// What extractors need to know about where a request came from, for a request that is made on behalf of another.
#[derive(Clone, Debug, Default)]
pub struct RequestOrigin {
    address: Option<ClientAddress>,
    record: Option<Arc<RequestRecord>>,
}

impl RequestOrigin {
    /// Reads it from the extensions of a request.
    pub fn of_request(extensions: &Extensions) -> RequestOrigin {
        RequestOrigin {
            address: extensions.get().copied(),
            record: extensions.get().cloned(),
        }
    }

    /// Attaches it to another request, which then counts as this one.
    pub fn attach(&self, extensions: &mut Extensions) {
        if let Some(address) = self.address {
            extensions.insert(address);
        }
        if let Some(record) = &self.record {
            extensions.insert(Arc::clone(record));
        }
    }
}

impl FromRequestParts<App> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Client, Infallible> {
        Ok(Client::of_request(&parts.extensions))
    }
}
