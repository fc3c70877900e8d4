package example;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Struct;
import com.google.protobuf.util.Structs;
import com.google.protobuf.util.Values;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import weir.ingest.v1.Context;
import weir.ingest.v1.ErrorDetail;
import weir.ingest.v1.Event;
import weir.ingest.v1.IngestEventsRequest;
import weir.ingest.v1.IngestServiceGrpc;
import weir.ingest.v1.IngestServiceGrpc.IngestServiceBlockingStub;
import weir.ingest.v1.Instrumentation;
import weir.ingest.v1.Llm;
import weir.ingest.v1.Status;
import weir.ingest.v1.Tool;

/** Sends two events to Weir over gRPC: an LLM call and a tool call. */
public final class SendEvents {
  private static final int TRIES = 5;

  // After a deadline the batch may be stored or not, as after any lost response: retry with the same ids.
  private static final Set<Code> RETRIED =
      EnumSet.of(Code.UNAVAILABLE, Code.INTERNAL, Code.DEADLINE_EXCEEDED);

  public static void main(String[] args) throws InterruptedException {
    ManagedChannel channel = openChannel(URI.create(System.getenv("WEIR_URL")));
    Metadata headers = new Metadata();
    headers.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
        "Bearer " + System.getenv("WEIR_API_KEY"));
    IngestServiceBlockingStub weir =
        IngestServiceGrpc.newBlockingStub(channel)
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    // Generate the ids once: a retry with the same ids never stores an event twice.
    IngestEventsRequest batch = IngestEventsRequest.newBuilder().addAllEvents(makeEvents()).build();
    boolean queued = send(weir, batch);
    channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
    System.exit(queued ? 0 : 1);
  }

  private static ManagedChannel openChannel(URI url) {
    var builder = ManagedChannelBuilder.forTarget(url.getAuthority());
    return (url.getScheme().equals("https") ? builder : builder.usePlaintext()).build();
  }

  private static boolean send(IngestServiceBlockingStub weir, IngestEventsRequest batch)
      throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        var answer = weir.withDeadlineAfter(30, TimeUnit.SECONDS).ingestEvents(batch);
        System.out.println(answer.getMessage());
        return true;
      } catch (StatusRuntimeException error) {
        String failure = describe(error);
        if (!RETRIED.contains(error.getStatus().getCode())) {
          System.err.println(failure + " Do not retry; the request, the key or the plan has to change.");
          return false;
        }
        if (attempt == TRIES) {
          System.err.println(failure + " Giving up; try again later with the same ids.");
          return false;
        }
        long pauseMs = 250L << attempt;
        System.err.println(failure + " Trying again in " + pauseMs + " ms.");
        Thread.sleep(pauseMs);
      }
    }
  }

  /** Weir's own error, or gRPC's when the call did not reach Weir. */
  private static String describe(StatusRuntimeException error) {
    for (Any detail : StatusProto.fromThrowable(error).getDetailsList()) {
      if (!detail.is(ErrorDetail.class)) continue;
      try {
        ErrorDetail weirError = detail.unpack(ErrorDetail.class);
        return weirError.getId() + ": " + weirError.getDetails();
      } catch (InvalidProtocolBufferException unreadable) {
        break;
      }
    }
    return error.getMessage() + ".";
  }

  private static List<Event> makeEvents() {
    double nowMs = System.currentTimeMillis();
    String traceId = UUID.randomUUID().toString();
    Event llmCall =
        Event.newBuilder()
            .setId(UUID.randomUUID().toString())
            .setTraceId(traceId)
            .setStartTimeMs(nowMs - 1330)
            .setEndTimeMs(nowMs - 80)
            .setDurationMs(1250)
            .setStatus(Status.newBuilder().setState(Status.State.STATE_OK))
            .setInstrumentation(
                Instrumentation.newBuilder()
                    .setVendor("weir")
                    .setSource("openai")
                    .setSourcePackage("my-agent"))
            .setContext(Context.newBuilder().setThreadId("thread-1").setUserId("user-1"))
            .setAdditionalProperties(Structs.of("plan", Values.of("pro"), "seats", Values.of(3)))
            .setLlm(
                Llm.newBuilder()
                    .setModel("gpt-4o")
                    .setInput(
                        Llm.Input.newBuilder()
                            .setSystem("Be brief.")
                            .setPrompt("How warm is it in Bern?"))
                    .setOutput(Llm.Output.newBuilder().setMode("text").setResponse("It is 21 °C."))
                    .setUsage(
                        Llm.Usage.newBuilder()
                            .setInputTokens(12)
                            .setOutputTokens(7)
                            .setTotalTokens(19)))
            .build();
    Struct input =
        Structs.of("city", Values.of("Bern"), "days", Values.of(List.of(Values.of(1), Values.of(2))));
    Event toolCall =
        Event.newBuilder()
            .setId(UUID.randomUUID().toString())
            .setTraceId(traceId)
            .setStartTimeMs(nowMs - 80)
            .setEndTimeMs(nowMs)
            .setDurationMs(80)
            .setStatus(
                Status.newBuilder()
                    .setState(Status.State.STATE_ERROR)
                    .setError(
                        Status.Error.newBuilder()
                            .setCode(Values.of("timeout"))
                            .setHttpStatus(Values.of(504))
                            .setMessage("No answer.")))
            .setInstrumentation(
                Instrumentation.newBuilder()
                    .setVendor("weir")
                    .setSource("weather")
                    .setSourcePackage("my-agent"))
            .setContext(Context.newBuilder().setThreadId("thread-1"))
            // Required, even if empty.
            .setAdditionalProperties(Struct.getDefaultInstance())
            .setTool(Tool.newBuilder().setName("get_weather").setInput(Values.of(input)))
            .build();
    return List.of(llmCall, toolCall);
  }
}
