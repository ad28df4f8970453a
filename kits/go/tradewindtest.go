// Package tradewindtest uses Tradewind's test kit from Go tests. It needs nothing but the standard library.
//
// TRADEWIND_URL and TRADEWIND_TOKEN, or GCORE_BASE_URL and GCORE_API_KEY, name a server. Without them one is started for the
// tests of a package, by TRADEWIND_COMMAND, by default "npx --yes tradewind"; it ends with them.
package tradewindtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// Client calls the API of a server as one account.
type Client struct {
	URL, Token string
	t          testing.TB
}

// Server is a running Tradewind with TRADEWIND_TEST_API=true, called as its administrator.
type Server struct{ Client }

// Tenant is an account with a project of its own, which others don't see.
type Tenant struct {
	Client
	ClientID, ProjectID int
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

// Start returns the server after a reset: nothing has happened on it yet. Such tests must not run at the same time.
func Start(t testing.TB) *Server {
	t.Helper()
	server := find(t)
	server.Reset()
	return server
}

// StartTenant returns an account of its own for the test. Such tests may run at the same time.
func StartTenant(t testing.TB) *Tenant {
	t.Helper()
	return find(t).MakeTenant("")
}

func find(t testing.TB) *Server {
	t.Helper()
	found, err := address()
	if err != nil {
		t.Fatal(err)
	}
	return &Server{Client{URL: found.url, Token: found.token, t: t}}
}

// Call sends a request. A nil body is not sent. The error is that of the connection.
func (c *Client) Call(method, path string, body any) (Answer, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, c.URL+path, sent)
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Authorization", "apikey "+c.Token)
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

// Must sends a request and decodes the answer into a pointer, unless that is nil. A refusal fails the test.
func (c *Client) Must(method, path string, body, into any) {
	c.t.Helper()
	answer, err := c.Call(method, path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if answer.Status >= 300 {
		c.t.Fatalf("%s %s: %d %s", method, path, answer.Status, answer.Body)
	}
	if into != nil {
		if err := answer.Decode(into); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (s *Server) kit(method, path string, body, into any) {
	s.t.Helper()
	s.Must(method, "/tradewind/v1/test"+path, body, into)
}

// MakeTenant makes an account with an administrator's token; an empty name is replaced by one of its own.
func (s *Server) MakeTenant(company string) *Tenant {
	s.t.Helper()
	if company == "" {
		company = "test " + randomHex()
	}
	var client struct{ ID int }
	s.Must("POST", "/iam/clients/create", map[string]any{"company": company}, &client)
	var made struct{ Token string }
	s.Must("POST", fmt.Sprintf("/iam/v2/clients/%d/tokens", client.ID), map[string]any{
		"name": "test", "exp_date": nil,
		"client_user": map[string]any{"role": map[string]any{"name": "Administrators"}},
	}, &made)
	tenant := &Tenant{Client: Client{URL: s.URL, Token: made.Token, t: s.t}, ClientID: client.ID}
	var projects struct{ Results []struct{ ID int } }
	tenant.Must("GET", "/cloud/v1/projects", nil, &projects)
	tenant.ProjectID = projects.Results[0].ID
	return tenant
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
func (c *Client) Ended(id string) Task {
	c.t.Helper()
	for {
		var task Task
		c.Must("GET", "/v1/tasks/"+id, nil, &task)
		if task.State == "FINISHED" || task.State == "ERROR" {
			return task
		}
	}
}
