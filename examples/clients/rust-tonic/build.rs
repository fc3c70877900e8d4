use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let proto = "../../../proto";
    println!("cargo:rerun-if-changed={proto}");
    let files = [
        "weir/ingest/v1/ingest_service.proto",
        "weir/ingest/v1/error_detail.proto",
    ];
    tonic_prost_build::configure()
        .build_server(false)
        .compile_fds(protox::compile(files, [proto])?)?;
    Ok(())
}
