//! Sends two events to Weir over gRPC: an LLM call and a tool call.

use std::env;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prost::Message;
use prost_types::{Any, Struct, Value};
use tonic::metadata::MetadataValue;
use tonic::transport::Endpoint;
use tonic::{Code, Request};
use uuid::Uuid;

use weir::event::Payload;
use weir::ingest_service_client::IngestServiceClient;
use weir::{
    Context, ErrorDetail, Event, IngestEventsRequest, Instrumentation, Llm, Status, Tool, llm,
    status,
};

mod weir {
    tonic::include_proto!("weir.ingest.v1");
}

const TRIES: u32 = 5;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match send_events().await {
        Ok(message) => {
            println!("{message}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn send_events() -> Result<String, Box<dyn std::error::Error>> {
    let channel = Endpoint::new(env::var("WEIR_URL")?)?
        .timeout(Duration::from_secs(30))
        .connect_lazy();
    let mut weir = IngestServiceClient::new(channel);
    let authorization: MetadataValue<_> =
        format!("Bearer {}", env::var("WEIR_API_KEY")?).parse()?;

    // Generate the ids once: a retry with the same ids never stores an event twice.
    let batch = IngestEventsRequest {
        events: make_events(),
    };
    for attempt in 1.. {
        let mut request = Request::new(batch.clone());
        request
            .metadata_mut()
            .insert("authorization", authorization.clone());
        let failure = match weir.ingest_events(request).await {
            Ok(response) => return Ok(response.into_inner().message),
            Err(failure) => failure,
        };
        let text = describe(&failure);
        if !may_retry(failure.code()) {
            return Err(format!(
                "{text} Do not retry; the request, the key or the plan has to change."
            )
            .into());
        }
        if attempt == TRIES {
            return Err(format!("{text} Giving up; try again later with the same ids.").into());
        }
        let pause = Duration::from_millis(250 << attempt);
        eprintln!("{text} Trying again in {pause:?}.");
        tokio::time::sleep(pause).await;
    }
    unreachable!()
}

fn may_retry(code: Code) -> bool {
    // tonic reports its own time-out as Cancelled or DeadlineExceeded, and some broken connections as Unknown. The batch
    // may be stored or not, as after any lost response: retry with the same ids.
    matches!(
        code,
        Code::Unavailable
            | Code::Internal
            | Code::Cancelled
            | Code::DeadlineExceeded
            | Code::Unknown
    )
}

/// google.rpc.Status, which contains the details of an error. Fields that tonic reads itself are left out.
#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// Weir's own error, or tonic's when the call did not reach Weir.
fn describe(failure: &tonic::Status) -> String {
    let details = RpcStatus::decode(failure.details())
        .unwrap_or_default()
        .details;
    let weir_error = details
        .iter()
        .find(|detail| detail.type_url.ends_with("/weir.ingest.v1.ErrorDetail"))
        .and_then(|detail| ErrorDetail::decode(&*detail.value).ok());
    match weir_error {
        Some(error) => format!("{}: {}", error.id, error.details),
        None => format!("{:?}: {}.", failure.code(), failure.message()),
    }
}

fn make_events() -> Vec<Event> {
    let now_ms = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs_f64()
        * 1000.0;
    let trace_id = Uuid::new_v4().to_string();
    let llm_call = Event {
        id: Uuid::new_v4().to_string(),
        trace_id: Some(trace_id.clone()),
        start_time_ms: Some(now_ms - 1330.0),
        end_time_ms: Some(now_ms - 80.0),
        duration_ms: Some(1250.0),
        status: Some(Status {
            state: status::State::Ok.into(),
            error: None,
        }),
        instrumentation: Some(Instrumentation {
            vendor: "weir".into(),
            source: Some("openai".into()),
            source_package: Some("my-agent".into()),
            source_function: None,
        }),
        context: Some(Context {
            thread_id: Some("thread-1".into()),
            user_id: Some("user-1".into()),
            ..Default::default()
        }),
        additional_properties: Some(to_struct([("plan", "pro".into()), ("seats", 3.0.into())])),
        payload: Some(Payload::Llm(Llm {
            model: Some("gpt-4o".into()),
            input: Some(llm::Input {
                system: Some("Be brief.".into()),
                prompt: Some("How warm is it in Bern?".into()),
                ..Default::default()
            }),
            output: Some(llm::Output {
                mode: Some("text".into()),
                response: Some("It is 21 °C.".into()),
                ..Default::default()
            }),
            usage: Some(llm::Usage {
                input_tokens: Some(12.0),
                output_tokens: Some(7.0),
                total_tokens: Some(19.0),
                ..Default::default()
            }),
            extra: None,
        })),
    };
    let tool_call = Event {
        id: Uuid::new_v4().to_string(),
        trace_id: Some(trace_id),
        start_time_ms: Some(now_ms - 80.0),
        end_time_ms: Some(now_ms),
        duration_ms: Some(80.0),
        status: Some(Status {
            state: status::State::Error.into(),
            error: Some(status::Error {
                code: Some("timeout".into()),
                http_status: Some(504.0.into()),
                message: Some("No answer.".into()),
            }),
        }),
        instrumentation: Some(Instrumentation {
            vendor: "weir".into(),
            source: Some("weather".into()),
            source_package: Some("my-agent".into()),
            source_function: None,
        }),
        context: Some(Context {
            thread_id: Some("thread-1".into()),
            ..Default::default()
        }),
        // Required, even if empty.
        additional_properties: Some(Struct::default()),
        payload: Some(Payload::Tool(Tool {
            name: Some("get_weather".into()),
            input: Some(
                to_struct([
                    ("city", "Bern".into()),
                    ("days", vec![1.0.into(), 2.0.into()].into()),
                ])
                .fields
                .into(),
            ),
            ..Default::default()
        })),
    };
    vec![llm_call, tool_call]
}

fn to_struct<const N: usize>(fields: [(&str, Value); N]) -> Struct {
    Struct {
        fields: fields.map(|(name, value)| (name.to_owned(), value)).into(),
    }
}
