// Sends two events to Weir: an LLM call and a tool call.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

const tries = 5

var client = http.Client{Timeout: 30 * time.Second}

type object = map[string]any

func main() {
	log.SetFlags(0)
	// Generate the ids once: a retry with the same ids never stores an event twice.
	batch, err := json.Marshal(object{"events": makeEvents()})
	if err != nil {
		log.Fatal(err)
	}
	for attempt := 1; ; attempt++ {
		status, answer, err := post(batch)
		var failure string
		switch {
		case err != nil:
			failure = err.Error() + "."
		case status == http.StatusAccepted:
			fmt.Println(answer.Message)
			return
		case status < 500:
			log.Fatalf("%s: %s Do not retry; the request, the key or the plan has to change.", answer.Error.ID, answer.Error.Details)
		default:
			failure = fmt.Sprintf("HTTP %d: %s: %s", status, answer.Error.ID, answer.Error.Details)
		}
		if attempt == tries {
			log.Fatal(failure, " Giving up; try again later with the same ids.")
		}
		pause := 250 * time.Millisecond << attempt
		log.Printf("%s Trying again in %v.", failure, pause)
		time.Sleep(pause)
	}
}

// Weir's response: a message or an error.
type answer struct {
	Message string
	Error   struct{ ID, Details string }
}

func post(batch []byte) (status int, parsed answer, err error) {
	request, err := http.NewRequest("POST", os.Getenv("WEIR_URL")+"/v1/ingest-events", bytes.NewReader(batch))
	if err != nil {
		return 0, parsed, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("WEIR_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, parsed, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, parsed, err
	}
	// A proxy's response may not be JSON; then only the status is used.
	_ = json.Unmarshal(body, &parsed)
	return response.StatusCode, parsed, nil
}

func makeEvents() []object {
	nowMs := time.Now().UnixMilli()
	traceID := newUUID()
	llmCall := object{
		"id":                   newUUID(),
		"type":                 "llm",
		"traceId":              traceID,
		"startTimeMs":          nowMs - 1330,
		"endTimeMs":            nowMs - 80,
		"durationMs":           1250,
		"status":               object{"state": "ok"},
		"instrumentation":      object{"vendor": "weir", "source": "openai", "sourcePackage": "my-agent"},
		"context":              object{"threadId": "thread-1", "userId": "user-1"},
		"additionalProperties": object{"plan": "pro", "seats": 3},
		"properties": object{"llm": object{
			"model":  "gpt-4o",
			"input":  object{"system": "Be brief.", "prompt": "How warm is it in Bern?"},
			"output": object{"mode": "text", "response": "It is 21 °C."},
			"usage":  object{"inputTokens": 12, "outputTokens": 7, "totalTokens": 19},
		}},
	}
	toolCall := object{
		"id":                   newUUID(),
		"type":                 "tool",
		"traceId":              traceID,
		"startTimeMs":          nowMs - 80,
		"endTimeMs":            nowMs,
		"durationMs":           80,
		"status":               object{"state": "error", "error": object{"code": "timeout", "httpStatus": 504, "message": "No answer."}},
		"instrumentation":      object{"vendor": "weir", "source": "weather", "sourcePackage": "my-agent"},
		"context":              object{"threadId": "thread-1"},
		"additionalProperties": object{},
		"properties": object{"tool": object{
			"name":  "get_weather",
			"input": object{"city": "Bern", "days": []int{1, 2}},
		}},
	}
	return []object{llmCall, toolCall}
}

// newUUID returns a random UUID, version 4. The package github.com/google/uuid does the same.
func newUUID() string {
	var u [16]byte
	rand.Read(u[:])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
