//! `record-generator SEED COUNT PROFILE OUT`: entries for the benches of tables, the same bytes on
//! every machine, for programs in any language.
//!
//! | part | bytes |
//! |---|---|
//! | a line of text | number of records, key length, value length, in decimal with a space between |
//! | records | key and value, one record after the other |
//! | order | the numbers of the records, shuffled, 32 bits each, little-endian |
//!
//! Profile `ordered` counts up: keys and values "00000000", "00000001" and so on. Profile `random`
//! has 16 random bytes for a key and 100 for a value, `short` 16 and 8.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use generator::random::Random;

const USAGE: &str = "usage: record-generator SEED COUNT ordered|random|short OUT";

const WRITE_BUFFER_BYTES: usize = 1 << 20;

#[derive(Clone, Copy)]
enum Profile {
    Ordered,
    Random,
    Short,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((seed, count, profile, path)) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match generate(seed, count, profile, path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("record-generator: {path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<(u64, u32, Profile, &str)> {
    let [seed, count, profile, path] = arguments else { return None };
    let profile = match profile.as_str() {
        "ordered" => Profile::Ordered,
        "random" => Profile::Random,
        "short" => Profile::Short,
        _ => return None,
    };
    Some((seed.parse().ok()?, count.parse().ok()?, profile, path))
}

fn generate(seed: u64, count: u32, profile: Profile, path: &str) -> io::Result<()> {
    let mut random = Random::new(seed);
    let mut out = BufWriter::with_capacity(WRITE_BUFFER_BYTES, File::create(path)?);
    match profile {
        Profile::Ordered => write_ordered(&mut out, count)?,
        Profile::Random => write_random::<100>(&mut out, count, &mut random)?,
        Profile::Short => write_random::<8>(&mut out, count, &mut random)?,
    }
    write_order(&mut out, count, &mut random)?;
    out.flush()
}

fn write_ordered(out: &mut impl Write, count: u32) -> io::Result<()> {
    writeln!(out, "{count} 8 8")?;
    (0..count).try_for_each(|number| write!(out, "{number:08}{number:08}"))
}

fn write_random<const VALUE_LEN: usize>(
    out: &mut impl Write,
    count: u32,
    random: &mut Random,
) -> io::Result<()> {
    const KEY_LEN: usize = 16;
    writeln!(out, "{count} {KEY_LEN} {VALUE_LEN}")?;
    let mut record = vec![0; KEY_LEN + VALUE_LEN];
    for _ in 0..count {
        random.fill(&mut record);
        out.write_all(&record)?;
    }
    Ok(())
}

/// Fisher and Yates.
fn write_order(out: &mut impl Write, count: u32, random: &mut Random) -> io::Result<()> {
    let mut order: Vec<u32> = (0..count).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    order.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
}
