//! The S3-compatible server that `tests/with-services.sh` starts.

use uuid::Uuid;

const URL: &str = "CAUSEWAY_TEST_S3_URL";

/// The URL of an empty blob store on the server. Prints the reason if there is no server.
pub fn empty_store() -> Option<String> {
    let Ok(url) = std::env::var(URL) else {
        println!(
            "skipped: {URL} is not set; tests/with-services.sh starts an S3-compatible server and sets it"
        );
        return None;
    };
    let (bucket, parameters) = url.split_once('?').unwrap();
    Some(format!("{bucket}/{}?{parameters}", Uuid::now_v7().simple()))
}
