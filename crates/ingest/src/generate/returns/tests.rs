use super::*;
use crate::form990::files::read_files;
use crate::form990::reader::Document;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

fn write(returns: Returns) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    returns.write(folder.path()).unwrap();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    (folder, paths)
}

const SOME: Returns = Returns {
    count: 300,
    nonprofits: 100,
    seed: 7,
    damaged: false,
};

#[test]
fn generated_returns_are_read_and_belong_to_generated_nonprofits() {
    let (folder, paths) = write(SOME);
    let mut eo = Vec::new();
    crate::generate::generate(100, 7, &mut eo).unwrap();
    let eo = String::from_utf8(eo).unwrap();
    let known: BTreeSet<u32> = eo
        .lines()
        .skip(1)
        .map(|line| line[..9].parse().unwrap())
        .collect();
    let (mut forms, mut versions, mut newest) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
    let (mut amended, mut size) = (0, 0);
    let files = read_files(&paths, |found| {
        let Document::Return(each) = found.result.unwrap() else {
            panic!()
        };
        assert!(known.contains(&each.ein.value()));
        assert!(each.amounts.revenue.is_some() && each.amounts.assets.is_some() && each.name.is_some());
        *forms.entry(each.form).or_insert(0) += 1;
        versions.insert(each.version.clone());
        let key = (each.ein, each.period_end);
        let previous = newest.insert(key, found.object_id.clone());
        assert_eq!(previous.is_some(), each.is_amended);
        assert!(previous.is_none_or(|previous| previous < found.object_id));
        amended += usize::from(each.is_amended);
        Ok(())
    })
    .unwrap();
    for path in &paths {
        size += std::fs::metadata(path).unwrap().len();
    }
    assert_eq!((files.len(), files[0].lines, files[1].lines), (2, 300, 300));
    assert!(
        forms.len() == 3 && versions.len() >= 5 && amended > 0,
        "{forms:?} {versions:?} {amended}"
    );
    assert!(size / 300 > 2_000, "{size}");
    let zip = std::fs::read(folder.path().join("2024_TEOS_XML_01A.zip")).unwrap();
    assert!(
        memchr::memmem::find(&zip, b"PK\x06\x06").is_some(),
        "the last bundle is ZIP64"
    );
}

#[test]
fn the_same_seed_writes_the_same_returns_and_damage_is_only_made_on_request() {
    let read = |returns: Returns| {
        let (_folder, paths) = write(returns);
        let (mut all, mut refused) = (Vec::new(), 0);
        read_files(&paths, |found| {
            refused += usize::from(found.result.is_err());
            all.push(found);
            Ok(())
        })
        .unwrap();
        (all, refused)
    };
    assert_eq!(read(SOME), read(SOME));
    let (all, refused) = read(Returns {
        damaged: true,
        ..SOME
    });
    assert!(all.len() == 300 && refused > 0 && refused < 20, "{refused}");
}
