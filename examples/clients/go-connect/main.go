// Sends two events to Weir over Connect: an LLM call and a tool call.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	ingestv1 "example/send-events/gen/weir/ingest/v1"
	"example/send-events/gen/weir/ingest/v1/ingestv1connect"
)

const tries = 5

func main() {
	log.SetFlags(0)
	// For gRPC, pass connect.WithGRPC() as the last argument, and an HTTP client that speaks HTTP/2.
	weir := ingestv1connect.NewIngestServiceClient(http.DefaultClient, os.Getenv("WEIR_URL"))
	// Generate the ids once: a retry with the same ids never stores an event twice.
	batch := &ingestv1.IngestEventsRequest{Events: makeEvents()}
	for attempt := 1; ; attempt++ {
		message, err := send(weir, batch)
		if err == nil {
			fmt.Println(message)
			return
		}
		if !mayRetry(err) {
			log.Fatal(describe(err), " Do not retry; the request, the key or the plan has to change.")
		}
		if attempt == tries {
			log.Fatal(describe(err), " Giving up; try again later with the same ids.")
		}
		pause := 250 * time.Millisecond << attempt
		log.Printf("%s Trying again in %v.", describe(err), pause)
		time.Sleep(pause)
	}
}

func send(weir ingestv1connect.IngestServiceClient, batch *ingestv1.IngestEventsRequest) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request := connect.NewRequest(batch)
	request.Header().Set("Authorization", "Bearer "+os.Getenv("WEIR_API_KEY"))
	response, err := weir.IngestEvents(ctx, request)
	if err != nil {
		return "", err
	}
	return response.Msg.GetMessage(), nil
}

func mayRetry(err error) bool {
	switch connect.CodeOf(err) {
	// After a deadline the batch may be stored or not, as after any lost response: retry with the same ids.
	case connect.CodeUnavailable, connect.CodeInternal, connect.CodeDeadlineExceeded:
		return true
	// The library's codes for a connection that breaks during a call. Weir itself sends neither.
	case connect.CodeCanceled, connect.CodeUnknown:
		return true
	}
	return false
}

// describe returns Weir's own error, or the library's when the call did not reach Weir.
func describe(err error) string {
	var failure *connect.Error
	if errors.As(err, &failure) {
		for _, detail := range failure.Details() {
			value, _ := detail.Value()
			if weirError, ok := value.(*ingestv1.ErrorDetail); ok {
				return weirError.GetId() + ": " + weirError.GetDetails()
			}
		}
	}
	return err.Error() + "."
}

func makeEvents() []*ingestv1.Event {
	nowMs := float64(time.Now().UnixMilli())
	traceID := uuid.NewString()
	llmCall := &ingestv1.Event{
		Id:          uuid.NewString(),
		TraceId:     &traceID,
		StartTimeMs: proto.Float64(nowMs - 1330),
		EndTimeMs:   proto.Float64(nowMs - 80),
		DurationMs:  proto.Float64(1250),
		Status:      &ingestv1.Status{State: ingestv1.Status_STATE_OK},
		Instrumentation: &ingestv1.Instrumentation{
			Vendor:        "weir",
			Source:        proto.String("openai"),
			SourcePackage: proto.String("my-agent"),
		},
		Context:              &ingestv1.Context{ThreadId: proto.String("thread-1"), UserId: proto.String("user-1")},
		AdditionalProperties: toStruct(map[string]any{"plan": "pro", "seats": 3}),
		Payload: &ingestv1.Event_Llm{Llm: &ingestv1.Llm{
			Model: proto.String("gpt-4o"),
			Input: &ingestv1.Llm_Input{
				System: proto.String("Be brief."),
				Prompt: proto.String("How warm is it in Bern?"),
			},
			Output: &ingestv1.Llm_Output{
				Mode:     proto.String("text"),
				Response: proto.String("It is 21 °C."),
			},
			Usage: &ingestv1.Llm_Usage{
				InputTokens:  proto.Float64(12),
				OutputTokens: proto.Float64(7),
				TotalTokens:  proto.Float64(19),
			},
		}},
	}
	toolCall := &ingestv1.Event{
		Id:          uuid.NewString(),
		TraceId:     &traceID,
		StartTimeMs: proto.Float64(nowMs - 80),
		EndTimeMs:   proto.Float64(nowMs),
		DurationMs:  proto.Float64(80),
		Status: &ingestv1.Status{
			State: ingestv1.Status_STATE_ERROR,
			Error: &ingestv1.Status_Error{
				Code:       structpb.NewStringValue("timeout"),
				HttpStatus: structpb.NewNumberValue(504),
				Message:    proto.String("No answer."),
			},
		},
		Instrumentation: &ingestv1.Instrumentation{
			Vendor:        "weir",
			Source:        proto.String("weather"),
			SourcePackage: proto.String("my-agent"),
		},
		Context: &ingestv1.Context{ThreadId: proto.String("thread-1")},
		// Required, even if empty.
		AdditionalProperties: &structpb.Struct{},
		Payload: &ingestv1.Event_Tool{Tool: &ingestv1.Tool{
			Name:  proto.String("get_weather"),
			Input: structpb.NewStructValue(toStruct(map[string]any{"city": "Bern", "days": []any{1, 2}})),
		}},
	}
	return []*ingestv1.Event{llmCall, toolCall}
}

// toStruct panics when a value has no JSON equivalent.
func toStruct(fields map[string]any) *structpb.Struct {
	converted, err := structpb.NewStruct(fields)
	if err != nil {
		panic(err)
	}
	return converted
}
