package clients

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	gcore "github.com/G-Core/gcore-go"
	"github.com/G-Core/gcore-go/option"
)

const module = "github.com/G-Core/gcore-go/"

// method is one of the SDK: its name, such as Cloud.Networks.NewAndPoll, what a service of the SDK calls it, and the
// operation that it starts with.
type method struct {
	name      string
	function  string
	operation string
	takes     reflect.Type
	gives     reflect.Type
}

var errProbed = errors.New("probed")

// methods calls each method once, with a client that sends nothing, to learn what it would send first.
func methods() []method {
	var sent string
	client := gcore.NewClient(
		option.WithBaseURL("http://tradewind.example/"), option.WithAPIKey("of nobody"), option.WithMaxRetries(0),
		option.WithCloudProjectID(probeNumber), option.WithCloudRegionID(probeNumber),
		option.WithMiddleware(func(request *http.Request, _ option.MiddlewareNext) (*http.Response, error) {
			sent = request.Method + " " + shape(request.URL.Path)
			return nil, errProbed
		}),
	)
	var found []method
	walkServices(reflect.ValueOf(&client).Elem(), nil, func(name string, service reflect.Value, one reflect.Method) {
		sent = ""
		arguments := []reflect.Value{reflect.ValueOf(context.Background())}
		kind := service.Method(one.Index).Type()
		var takes reflect.Type
		for i := 1; i < kind.NumIn()-1; i++ {
			argument := probe(kind.In(i))
			if argument.Kind() == reflect.Struct {
				takes = argument.Type()
			}
			arguments = append(arguments, argument)
		}
		service.Method(one.Index).Call(arguments)
		function := service.Type().Elem().String() + "." + one.Name
		found = append(found, method{name, function, sent, takes, kind.Out(0)})
	})
	return found
}

const probeText, probeNumber = "probe-of-an-argument", 70_707_070

// probe makes an argument that fills every part of a path.
func probe(kind reflect.Type) reflect.Value {
	value := reflect.New(kind).Elem()
	switch kind.Kind() {
	case reflect.String:
		value.SetString(probeText)
	case reflect.Int64:
		value.SetInt(probeNumber)
	case reflect.Struct:
		for i := 0; i < kind.NumField(); i++ {
			if field := kind.Field(i); field.Tag.Get("path") != "" && field.Type.Kind() != reflect.Struct {
				value.Field(i).Set(probe(field.Type))
			}
		}
	}
	return value
}

var parameter = regexp.MustCompile(`\{[^}]*\}|` + probeText + `|70707070`)

// shape is a path without the names or values of its parameters.
func shape(path string) string { return parameter.ReplaceAllString(path, "{}") }

func walkServices(value reflect.Value, names []string, visit func(string, reflect.Value, reflect.Method)) {
	for i := 0; i < value.NumField(); i++ {
		field := value.Type().Field(i)
		if !field.IsExported() || !strings.HasSuffix(field.Type.Name(), "Service") {
			continue
		}
		below := append(append([]string{}, names...), field.Name)
		service := value.Field(i).Addr()
		for j := 0; j < service.NumMethod(); j++ {
			one := service.Type().Method(j)
			visit(strings.Join(append(below, one.Name), "."), service, one)
		}
		walkServices(value.Field(i), below, visit)
	}
}

// called are the functions of services that the scenario called. Those that another one calls don't count.
var called = map[string]bool{}

// noteCaller is called for each request. The outermost frame of the SDK is the method that was called.
func noteCaller(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	counters := make([]uintptr, 100)
	frames := runtime.CallersFrames(counters[:runtime.Callers(1, counters)])
	outermost := ""
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if name, ours := strings.CutPrefix(frame.Function, module); ours && strings.Contains(name, "Service).") {
			outermost = name
		}
	}
	called[strings.NewReplacer("(*", "", ")", "").Replace(outermost)] = true
	return next(request)
}

type document struct {
	Paths      map[string]map[string]documented
	Components struct{ Schemas map[string]*schema }
}

func readDocument(t *testing.T) document {
	answer, err := http.Get(os.Getenv("GCORE_BASE_URL") + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var read document
	if err := json.NewDecoder(answer.Body).Decode(&read); err != nil {
		t.Fatal(err)
	}
	return read
}

// operations are those of the document, by what methods() names them by.
func (d document) operations() map[string]documented {
	found := map[string]documented{}
	for path, ofPath := range d.Paths {
		for verb, one := range ofPath {
			found[strings.ToUpper(verb)+" "+shape(strings.TrimPrefix(path, "/gcore"))] = one
		}
	}
	return found
}
