// Package tradewindtest uses Tradewind's test kit from Go tests. It needs nothing but the standard library.
//
// TRADEWIND_URL and TRADEWIND_TOKEN say where the server is, and who may reset it.
package tradewindtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
)

// Server is a running Tradewind with TRADEWIND_TEST_API=true.
type Server struct {
	url, token string
	t          testing.TB
}

// Answer is what the API answered; Body is decoded by Decode.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Fault says what goes wrong, and where. Fields that are left out match everything.
type Fault struct {
	Operation   string   `json:"operation,omitempty"`
	Task        string   `json:"task,omitempty"`
	Kind        string   `json:"kind,omitempty"`
	Name        string   `json:"name,omitempty"`
	ClientID    int      `json:"client_id,omitempty"`
	Nth         int      `json:"nth,omitempty"`
	Times       int      `json:"times,omitempty"`
	Probability *float64 `json:"probability,omitempty"`
	Seed        int      `json:"seed,omitempty"`
	// Do is one of {"status"}, {"delay_ms"}, {"drop"}, {"quota"}, {"fail"} and {"hold"}.
	Do map[string]any `json:"do"`
}

// Task is a task of the API.
type Task struct {
	ID    string  `json:"id"`
	State string  `json:"state"`
	Error *string `json:"error"`
}

// New returns the server, on which nothing has happened yet.
func New(t testing.TB) *Server {
	t.Helper()
	url := os.Getenv("TRADEWIND_URL")
	if url == "" {
		url = "http://127.0.0.1:8080"
	}
	server := &Server{url: url, token: os.Getenv("TRADEWIND_TOKEN"), t: t}
	server.Reset()
	return server
}

// Call sends a request. A nil body is not sent. The error is that of the connection.
func (s *Server) Call(method, path string, body any) (Answer, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, s.url+path, sent)
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Authorization", "apikey "+s.token)
	request.Header.Set("Prefer", "wait=10")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: text}, err
}

// Decode reads the body of an answer.
func (a Answer) Decode(into any) error { return json.Unmarshal(a.Body, into) }

func (s *Server) kit(method, path string, body, into any) {
	s.t.Helper()
	answer, err := s.Call(method, "/tradewind/v1/test"+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if answer.Status >= 300 {
		s.t.Fatalf("%s %s: %d %s", method, path, answer.Status, answer.Body)
	}
	if into != nil {
		if err := answer.Decode(into); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Reset brings everything back to how it was when the server had started, the clock included, and removes all faults.
func (s *Server) Reset() {
	s.t.Helper()
	s.kit("POST", "/reset", map[string]string{"scope": "all"}, nil)
}

// TakeSnapshot keeps everything as it is now.
func (s *Server) TakeSnapshot(name string) {
	s.t.Helper()
	s.kit("POST", "/snapshots", map[string]string{"name": name}, nil)
}

// RestoreSnapshot goes back to what TakeSnapshot kept.
func (s *Server) RestoreSnapshot(name string) {
	s.t.Helper()
	s.kit("POST", fmt.Sprintf("/snapshots/%s/restore", name), nil, nil)
}

// RemoveSnapshot forgets a snapshot.
func (s *Server) RemoveSnapshot(name string) {
	s.t.Helper()
	s.kit("DELETE", "/snapshots/"+name, nil, nil)
}

// AddFault lets something go wrong, and returns the fault's id.
func (s *Server) AddFault(fault Fault) int {
	s.t.Helper()
	var made struct{ ID int }
	s.kit("POST", "/faults", fault, &made)
	return made.ID
}

// RemoveFault ends a fault.
func (s *Server) RemoveFault(id int) {
	s.t.Helper()
	s.kit("DELETE", fmt.Sprintf("/faults/%d", id), nil, nil)
}

// AdvanceClock moves the server's clock on.
func (s *Server) AdvanceClock(seconds float64) {
	s.t.Helper()
	s.kit("POST", "/clock", map[string]float64{"advance_s": seconds}, nil)
}

// SetSpeed changes the speed of simulated work, also of that in progress.
func (s *Server) SetSpeed(speed float64) {
	s.t.Helper()
	s.kit("POST", "/simulation", map[string]float64{"speed": speed}, nil)
}

// FinishTask ends simulated work at once.
func (s *Server) FinishTask(id string) { s.t.Helper(); s.kit("POST", "/tasks/"+id+"/finish", nil, nil) }

// FailTask ends a task with an error.
func (s *Server) FailTask(id, reason string) {
	s.t.Helper()
	s.kit("POST", "/tasks/"+id+"/fail", map[string]string{"reason": reason}, nil)
}

// Ended waits until the task has ended.
func (s *Server) Ended(id string) Task {
	s.t.Helper()
	for {
		answer, err := s.Call("GET", "/v1/tasks/"+id, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		if answer.Status >= 300 {
			s.t.Fatalf("task %s: status %d", id, answer.Status)
		}
		var task Task
		if err := answer.Decode(&task); err != nil {
			s.t.Fatal(err)
		}
		if task.State == "FINISHED" || task.State == "ERROR" {
			return task
		}
	}
}
