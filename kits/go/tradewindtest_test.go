package tradewindtest

import (
	"fmt"
	"testing"
)

const volumes = "/cloud/v1/volumes/1/1"

var newVolume = map[string]any{"source": "new-volume", "name": "data", "size": 1}

func startVolume(t *testing.T, server *Server) string {
	t.Helper()
	answer, err := server.Call("POST", volumes, newVolume)
	if err != nil {
		t.Fatal(err)
	}
	var tasks []string
	if err := answer.Decode(&tasks); err != nil {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	return tasks[0]
}

func count(t *testing.T, server *Server) int {
	t.Helper()
	answer, err := server.Call("GET", volumes, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Count int }
	if err := answer.Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list.Count
}

func TestARequestThatIsRefusedForAWhile(t *testing.T) {
	server := Start(t)
	server.AddFault(Fault{Operation: "createVolume", Times: 1, Do: map[string]any{"status": 500}})
	for _, expected := range []int{500, 200} {
		answer, err := server.Call("POST", volumes, newVolume)
		if err != nil || answer.Status != expected {
			t.Fatalf("expected %d, got %d %v", expected, answer.Status, err)
		}
	}
}

func TestATaskThatFailsAndOneThatIsHeld(t *testing.T) {
	server := Start(t)
	server.AddFault(Fault{Task: "create_volume", Nth: 1, Do: map[string]any{"fail": "no space left"}})
	held := server.AddFault(Fault{Kind: "volume", Nth: 2, Do: map[string]any{"hold": true}})
	if task := server.Ended(startVolume(t, server)); task.State != "ERROR" {
		t.Fatal(task)
	}
	task := startVolume(t, server)
	server.RemoveFault(held)
	if ended := server.Ended(task); ended.State != "FINISHED" {
		t.Fatal(ended)
	}
}

func TestTasksThatATestEndsItself(t *testing.T) {
	server := Start(t)
	server.SetSpeed(0.01)
	one, other := startVolume(t, server), startVolume(t, server)
	server.FinishTask(one)
	server.FailTask(other, "for the test")
	if task := server.Ended(one); task.State != "FINISHED" {
		t.Fatal(task)
	}
	if task := server.Ended(other); task.Error == nil || *task.Error != "for the test" {
		t.Fatal(task)
	}
}

func TestADeadlineThatPasses(t *testing.T) {
	server := Start(t)
	server.AddFault(Fault{Task: "create_volume", Do: map[string]any{"hold": true}})
	task := startVolume(t, server)
	server.AdvanceClock(7 * 86_400)
	if ended := server.Ended(task); ended.State != "ERROR" {
		t.Fatal(ended)
	}
}

func TestASnapshot(t *testing.T) {
	server := Start(t)
	server.TakeSnapshot("empty")
	server.Ended(startVolume(t, server))
	server.RestoreSnapshot("empty")
	if found := count(t, server); found != 0 {
		t.Fatal(found)
	}
	server.RemoveSnapshot("empty")
}

func TestTwoAccountsThatDoNotSeeEachOther(t *testing.T) {
	tenant := StartTenant(t)
	path := fmt.Sprintf("/cloud/v1/volumes/%d/1", tenant.ProjectID)
	var tasks []string
	tenant.Must("POST", path, newVolume, &tasks)
	if task := tenant.Ended(tasks[0]); task.State != "FINISHED" {
		t.Fatal(task)
	}
	if answer, err := StartTenant(t).Call("GET", path, nil); err != nil || answer.Status != 404 {
		t.Fatal(answer.Status, err)
	}
}
