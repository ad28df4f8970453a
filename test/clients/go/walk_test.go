// Package clients runs the official Go SDK against a server: every method whose operation it serves.
//
// GCORE_BASE_URL and GCORE_API_KEY say which server and account. LIMITED_BASE_URL and LIMITED_API_KEY are of a server that
// takes few requests, and TLS_BUNDLE is what a server needs.
package clients

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	gcore "github.com/G-Core/gcore-go"
	"github.com/G-Core/gcore-go/cloud"
	"github.com/G-Core/gcore-go/option"
	"github.com/G-Core/gcore-go/packages/param"
)

var (
	// now is the step that runs. Steps run one after another.
	now *testing.T
	ctx = context.Background()
	// client waits for tasks by the server's help. The SDK itself looks once a second.
	client gcore.Client
	// impatient repeats nothing, so that a refusal is seen at once.
	impatient gcore.Client
	project   int64
	// made is what earlier steps made and later ones use.
	made struct {
		account                           int64
		key, network, subnet, group       string
		volume, secondVolume, image, snap string
		instance, publicInstance          string
		port, address                     string
	}
)

const region = 1

// strict has the server refuse fields that it doesn't know.
var strict = option.WithHeader("Tradewind-Strict", "true")

func common(more ...option.RequestOption) []option.RequestOption {
	return append([]option.RequestOption{
		option.WithPollingIntervalSeconds(1), option.WithPollingTimeoutSeconds(300),
		option.WithCloudProjectID(project), option.WithCloudRegionID(region), option.WithMiddleware(noteCaller),
	}, more...)
}

func TestWalk(t *testing.T) {
	now = t
	starter := gcore.NewClient(option.WithMiddleware(noteCaller))
	project = got(starter.Cloud.Projects.New(ctx, cloud.ProjectNewParams{Name: "walk"})).ID
	client = gcore.NewClient(common(option.WithHeader("Prefer", "wait=30"))...)
	impatient = gcore.NewClient(common(option.WithMaxRetries(0))...)
	steps := []struct {
		name string
		run  func()
	}{
		{"account", account}, {"role assignments", roleAssignments}, {"tokens", tokens}, {"projects", projects},
		{"quotas", quotas}, {"regions", regions}, {"keys", keys}, {"networks", networks}, {"subnets", subnets},
		{"routers", routers}, {"security groups", securityGroups}, {"secrets", secrets},
		{"balancers", balancers}, {"volumes", volumes}, {"snapshots", snapshots}, {"images", images}, {"shares", shares},
		{"instances", instances}, {"groups of an instance", groupsOfInstance}, {"volumes of an instance", volumesOfInstance},
		{"interfaces", interfaces}, {"floating addresses", floatingAddresses},
		{"reserved addresses", reservedAddresses}, {"placement groups", placementGroups}, {"removal", removal}, {"other forms", variants},
		{"clusters", clusters}, {"pools", pools}, {"removal of clusters", removalOfClusters}, {"AI tasks", aiTasks},
		{"tasks", tasks}, {"reports", reports}, {"errors", refusals}, {"raw answers", rawAnswers},
	}
	passed := 0
	for _, step := range steps {
		if t.Run(step.name, func(t *testing.T) {
			now = t
			step.run()
		}) {
			passed++
		}
	}
	now = t
	served := servedMethods(t)
	for _, one := range served {
		if !called[one.function] {
			t.Errorf("%s (%s) was not called", one.name, one.operation)
		}
	}
	t.Logf("fields of answers that the SDK doesn't know: %s", strings.Join(sorted(extra), ", "))
	figures, err := json.Marshal(map[string]any{"version": sdkVersion(), "methods": len(served), "steps": passed})
	done(err)
	done(os.WriteFile(os.Getenv("FIGURES_FILE"), figures, 0o600))
}

func servedMethods(t *testing.T) []method {
	operations := readDocument(t).operations()
	var served []method
	for _, one := range methods() {
		if _, is := operations[one.operation]; is {
			served = append(served, one)
		}
	}
	return served
}

// got is the answer of a call, which must succeed and hold what the SDK requires.
func got[T any](answer T, err error) T {
	now.Helper()
	done(err)
	found := inspect(reflect.ValueOf(answer), reflect.TypeOf(answer).String())
	for _, fault := range found.faults {
		now.Error(fault)
	}
	for _, name := range found.extra {
		extra[name] = true
	}
	return answer
}

func done(err error) {
	now.Helper()
	if err != nil {
		now.Fatal(err)
	}
}

// finished waits for the only task of an answer and returns it.
func finished(answer *cloud.TaskIDList, err error) *cloud.Task {
	now.Helper()
	list := got(answer, err)
	if len(list.Tasks) != 1 {
		now.Fatalf("%d tasks instead of one", len(list.Tasks))
	}
	return got(client.Cloud.Tasks.Poll(ctx, list.Tasks[0]))
}

// all reads every page.
func all[T any](pages interface {
	Next() bool
	Current() T
	Err() error
}) []T {
	now.Helper()
	found := []T{}
	for pages.Next() {
		found = append(found, got(pages.Current(), nil))
	}
	done(pages.Err())
	return found
}

func only[T any](found []T) T {
	now.Helper()
	if len(found) != 1 {
		now.Fatalf("%d instead of one", len(found))
	}
	return found[0]
}

func second[T any](_ T, err error) error { return err }

// refused checks that a call was refused with a status.
func refused(status int, err error) *gcore.Error {
	now.Helper()
	var refusal *gcore.Error
	if !errors.As(err, &refusal) || refusal.StatusCode != status {
		now.Fatalf("not refused with %d: %v", status, err)
	}
	return refusal
}

func must(is bool, what ...any) {
	now.Helper()
	if !is {
		now.Fatal(what...)
	}
}

func same[T comparable](seen, wanted T) {
	now.Helper()
	if seen != wanted {
		now.Fatalf("%v instead of %v", seen, wanted)
	}
}

func str(text string) param.Opt[string] { return gcore.String(text) }
func num(number int64) param.Opt[int64] { return gcore.Int(number) }

var yes, no = gcore.Bool(true), gcore.Bool(false)

func sdkVersion() string {
	version := ""
	probe := gcore.NewClient(option.WithBaseURL("http://tradewind.example/"), option.WithAPIKey("of nobody"), option.WithMaxRetries(0),
		option.WithMiddleware(func(request *http.Request, _ option.MiddlewareNext) (*http.Response, error) {
			version = request.Header.Get("X-Stainless-Package-Version")
			return nil, errProbed
		}))
	_, _ = probe.Cloud.IPRanges.List(ctx)
	return version
}
