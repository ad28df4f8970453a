package clients

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	gcore "github.com/G-Core/gcore-go"
)

type documented struct {
	Parameters  []parameterOfOperation
	RequestBody body
	Responses   map[string]body
}

type body struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema *schema }
}

type parameterOfOperation struct {
	Ref      string `json:"$ref"`
	Name     string
	In       string
	Required bool
	Schema   *schema
}

type schema struct {
	Ref        string `json:"$ref"`
	Properties map[string]*schema
	Items      *schema
	AllOf      []*schema
	AnyOf      []*schema
	OneOf      []*schema
	Enum       []any
	Const      any
	Type       any
	Required   []string
	// AdditionalProperties is false, true or a schema.
	AdditionalProperties any
}

// TestFields compares what the SDK can send to served operations with what these take: fields of queries and bodies, and
// values where the SDK names them.
func TestFields(t *testing.T) {
	sweep := newSweep(t)
	operations := sweep.document.operations()
	for _, one := range servedMethods(t) {
		if one.takes == nil {
			continue
		}
		sweep.query(one.operation, one.takes, operations[one.operation])
		var forms []*schema
		for _, content := range operations[one.operation].RequestBody.Content {
			forms = append(forms, content.Schema)
		}
		sweep.body(one.operation, "", one.takes, forms)
	}
	t.Logf("%d fields and %d values compared", sweep.fields, sweep.enums)
	compareWithDecided(t, sweep, decidedFields)
}

func compareWithDecided(t *testing.T, sweep *sweep, decided map[string]string) {
	for _, difference := range sorted(sweep.found) {
		if decided[difference] == "" {
			t.Error(difference)
		}
	}
	for difference := range decided {
		if !sweep.found[difference] {
			t.Error("no longer a difference: " + difference)
		}
	}
}

type sweep struct {
	document document
	// values are those that the comments of the SDK's fields name, by type and field.
	values map[string][]string
	found  map[string]bool
	// fields and enums count what was compared.
	fields, enums int
}

func (s *sweep) differs(operation, at, what string) { s.found[operation+" "+at+what] = true }

func (s *sweep) query(operation string, takes reflect.Type, of documented) {
	known, required := map[string]*schema{}, map[string]bool{}
	for _, one := range of.Parameters {
		if one.In == "query" {
			known[one.Name] = one.Schema
			required[one.Name] = one.Required
		}
	}
	for i := 0; i < takes.NumField(); i++ {
		field := takes.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("query"), ",")
		if name == "" {
			continue
		}
		s.fields++
		of, is := known[name]
		if !is {
			s.differs(operation, "?"+name, "")
			continue
		}
		if required[name] && !isRequired(field) {
			s.differs(operation, "?"+name, " is required")
		}
		s.compareValues(operation, "?"+name, takes, field, []*schema{of})
	}
}

func isRequired(field reflect.StructField) bool {
	return strings.Contains(field.Tag.Get("api"), "required") || field.Tag.Get("default") != ""
}

// body compares the fields of a struct with what is known of an object: its forms, of which any may apply.
func (s *sweep) body(operation, at string, takes reflect.Type, forms []*schema) {
	forms = s.formsOf(takes, s.resolved(forms))
	for i := 0; i < takes.NumField(); i++ {
		field := takes.Field(i)
		tag, isSent := field.Tag.Lookup("json")
		if !isSent || tag == "-" || !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		kind := plain(field.Type)
		if name == "" {
			if strings.Contains(options, "inline") && kind.Kind() == reflect.Struct {
				s.body(operation, at, kind, forms)
			}
			continue
		}
		here := at + "." + name
		below, isKnown := propertyOf(forms, name)
		if !isKnown {
			s.differs(operation, here, "")
			continue
		}
		if len(forms) == 1 && requires(forms, name) && !isRequired(field) {
			s.differs(operation, here, " is required")
		}
		s.compareValues(operation, here, takes, field, below)
		s.fields++
		for kind.Kind() == reflect.Slice || kind.Kind() == reflect.Map {
			below = s.elements(below, kind.Kind())
			kind = plain(kind.Elem())
		}
		if kind.Kind() == reflect.Struct && describes(s.resolved(below)) && kind.PkgPath() != "time" {
			s.body(operation, here, kind, below)
		}
	}
}

// formsOf are the forms of a union that a struct is, by its constants. Others stay, as one of them may be meant.
func (s *sweep) formsOf(takes reflect.Type, forms []*schema) []*schema {
	for i := 0; i < takes.NumField(); i++ {
		constant := takes.Field(i).Tag.Get("default")
		name, _, _ := strings.Cut(takes.Field(i).Tag.Get("json"), ",")
		if constant == "" {
			continue
		}
		var found []*schema
		for _, form := range forms {
			if property, is := form.Properties[name]; is && s.taken(s.resolved([]*schema{property}))[constant] {
				found = append(found, form)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return forms
}

// plain is a type without pointers and the wrapper of optional values.
func plain(kind reflect.Type) reflect.Type {
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	if kind.Kind() == reflect.Struct && strings.HasPrefix(kind.Name(), "Opt[") {
		field, _ := kind.FieldByName("Value")
		return field.Type
	}
	return kind
}

func propertyOf(forms []*schema, name string) ([]*schema, bool) {
	var found []*schema
	isKnown := false
	for _, form := range forms {
		if property, is := form.Properties[name]; is {
			found, isKnown = append(found, property), true
		} else if form.AdditionalProperties != nil && form.AdditionalProperties != false {
			isKnown = true
		}
	}
	return found, isKnown
}

func (s *sweep) elements(forms []*schema, kind reflect.Kind) []*schema {
	var found []*schema
	for _, form := range s.resolved(forms) {
		if kind == reflect.Slice && form.Items != nil {
			found = append(found, form.Items)
		}
	}
	return found
}

// resolved follows references and takes unions apart.
func (s *sweep) resolved(forms []*schema) []*schema {
	var found []*schema
	for _, form := range forms {
		if form == nil {
			continue
		}
		if form.Ref != "" {
			found = append(found, s.resolved([]*schema{s.document.Components.Schemas[form.Ref[strings.LastIndex(form.Ref, "/")+1:]]})...)
			continue
		}
		found = append(found, form)
		found = append(found, s.resolved(form.AllOf)...)
		found = append(found, s.resolved(form.AnyOf)...)
		found = append(found, s.resolved(form.OneOf)...)
	}
	return found
}

func (s *sweep) compareValues(operation, at string, takes reflect.Type, field reflect.StructField, forms []*schema) {
	values := s.values[takes.Name()+"."+field.Name]
	if constant := field.Tag.Get("default"); constant != "" {
		values = append(values, constant)
	}
	if len(values) == 0 {
		return
	}
	all := s.resolved(forms)
	if kind := plain(field.Type).Kind(); kind == reflect.Slice {
		all = append(all, s.resolved(s.elements(forms, kind))...)
	}
	taken := s.taken(all)
	if len(taken) == 0 {
		return
	}
	s.enums += len(values)
	for _, value := range values {
		if !taken[value] {
			s.differs(operation, at, "="+value)
		}
	}
}

// taken are the values that forms name.
func (s *sweep) taken(forms []*schema) map[string]bool {
	found := map[string]bool{}
	for _, form := range forms {
		for _, value := range form.Enum {
			found[fmt.Sprint(value)] = true
		}
		if form.Const != nil {
			found[fmt.Sprint(form.Const)] = true
		}
	}
	return found
}

var (
	anyOf = regexp.MustCompile(`Any of ((?:(?:"[^"]*"|\d+)(?:,\s+)?)+)\.`)
	value = regexp.MustCompile(`"([^"]*)"|(\d+)`)
)

// valuesInSource are those that comments of the SDK's fields name.
func valuesInSource(t *testing.T) map[string][]string {
	file, _ := runtime.FuncForPC(reflect.ValueOf(gcore.NewClient).Pointer()).FileLine(0)
	found := map[string][]string{}
	for _, folder := range []string{"cloud", "iam", "streaming"} {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(file), folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal("the SDK's source isn't where it was compiled from: ", file, err)
		}
		for _, path := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(node ast.Node) bool {
				if declared, is := node.(*ast.TypeSpec); is {
					noteValues(found, declared)
				}
				return true
			})
		}
	}
	return found
}

func noteValues(found map[string][]string, declared *ast.TypeSpec) {
	object, is := declared.Type.(*ast.StructType)
	if !is {
		return
	}
	for _, field := range object.Fields.List {
		named := anyOf.FindStringSubmatch(strings.ReplaceAll(field.Doc.Text(), "\n", " "))
		if named == nil || len(field.Names) == 0 {
			continue
		}
		for _, one := range value.FindAllStringSubmatch(named[1], -1) {
			name := declared.Name.Name + "." + field.Names[0].Name
			found[name] = append(found[name], one[1]+one[2])
		}
	}
}

// TestAnswers compares what the SDK reads from answers of served operations with what these promise.
func TestAnswers(t *testing.T) {
	sweep := newSweep(t)
	operations := sweep.document.operations()
	for _, one := range servedMethods(t) {
		if strings.HasSuffix(one.name, "AndPoll") || strings.HasSuffix(one.name, "AutoPaging") || one.gives.Kind() != reflect.Pointer {
			continue
		}
		for status, answer := range operations[one.operation].Responses {
			if content, is := answer.Content["application/json"]; is && strings.HasPrefix(status, "2") {
				sweep.answer(one.operation, "", one.gives.Elem(), []*schema{content.Schema}, map[reflect.Type]bool{})
			}
		}
	}
	t.Logf("%d fields and %d values compared", sweep.fields, sweep.enums)
	compareWithDecided(t, sweep, decidedAnswers)
}

func newSweep(t *testing.T) *sweep {
	return &sweep{document: readDocument(t), values: valuesInSource(t), found: map[string]bool{}}
}

func (s *sweep) answer(operation, at string, kind reflect.Type, forms []*schema, above map[reflect.Type]bool) {
	all := s.resolved(forms)
	// The forms of a union are looked at by the scenario.
	isUnion := strings.HasSuffix(kind.Name(), "Union")
	if isUnion || !describes(all) {
		return
	}
	wanted := map[reflect.Kind][]string{
		reflect.String: {"string"}, reflect.Int64: {"integer"}, reflect.Float64: {"number", "integer"}, reflect.Bool: {"boolean"},
		reflect.Slice: {"array"}, reflect.Map: {"object"}, reflect.Struct: {"object"},
	}[kind.Kind()]
	if kind.PkgPath() == "time" {
		wanted = []string{"string"}
	}
	if len(wanted) > 0 {
		for _, form := range all {
			for _, one := range typesOf(form) {
				if one != "null" && one != wanted[0] && one != wanted[len(wanted)-1] {
					s.differs(operation, at, " is "+one+" instead of "+wanted[0])
				}
			}
		}
	}
	switch {
	case kind.Kind() == reflect.Slice:
		s.answer(operation, at, kind.Elem(), s.elements(all, reflect.Slice), above)
	case kind.Kind() == reflect.Struct && kind.PkgPath() != "time" && !above[kind]:
		below := map[reflect.Type]bool{kind: true}
		for one := range above {
			below[one] = true
		}
		s.answerFields(operation, at, kind, all, below)
	}
}

func (s *sweep) answerFields(operation, at string, kind reflect.Type, all []*schema, above map[reflect.Type]bool) {
	for i := 0; i < kind.NumField(); i++ {
		field := kind.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		s.fields++
		here := at + "." + name
		below, isKnown := propertyOf(all, name)
		isRequired := strings.Contains(field.Tag.Get("api"), "required")
		if !isKnown && isRequired {
			s.differs(operation, here, " is missing")
		}
		if isKnown && isRequired && !requires(all, name) {
			s.differs(operation, here, " may be missing")
		}
		if isKnown {
			s.answer(operation, here, field.Type, below, above)
			s.compareGiven(operation, here, kind, field, below)
		}
	}
}

func (s *sweep) compareGiven(operation, at string, kind reflect.Type, field reflect.StructField, forms []*schema) {
	values := map[string]bool{}
	for _, one := range s.values[kind.Name()+"."+field.Name] {
		values[one] = true
	}
	if len(values) == 0 {
		return
	}
	for _, form := range append(s.resolved(forms), s.resolved(s.elements(forms, reflect.Slice))...) {
		for _, one := range form.Enum {
			s.enums++
			if one != nil && !values[fmt.Sprint(one)] {
				s.differs(operation, at, " may be "+fmt.Sprint(one))
			}
		}
	}
}

// describes is whether the forms say anything but that there may be null, or anything at all.
func describes(forms []*schema) bool {
	for _, form := range forms {
		types := typesOf(form)
		if len(form.Properties) > 0 || form.Items != nil || len(types) > 0 && types[0] != "null" && types[0] != "object" {
			return true
		}
	}
	return false
}

func typesOf(form *schema) []string {
	switch named := form.Type.(type) {
	case string:
		return []string{named}
	case []any:
		var all []string
		for _, one := range named {
			all = append(all, fmt.Sprint(one))
		}
		return all
	}
	return nil
}

// requires says whether a form that has the property requires it.
func requires(forms []*schema, name string) bool {
	for _, form := range forms {
		for _, one := range form.Required {
			if one == name {
				return true
			}
		}
	}
	return false
}

// decidedFields are differences that stay, and why.
var decidedFields = map[string]string{
	"GET /streaming/ai/info ?audio_language is required":                                    "the published contract requires it for the only type",
	"POST /cloud/v2/limits_request .requested_limits.regional_limits.region_id is required": "of which region else",
}

const (
	notHere   = "a published name, but nothing that happens here has it"
	published = "the published contract has it"
)

// decidedAnswers are differences that stay, and why.
var decidedAnswers = map[string]string{
	"GET /cloud/v1/user_actions .results.action_type may be get_certificate": notHere,
	"GET /cloud/v1/user_actions .results.action_type may be get_console":     notHere,
	"GET /cloud/v1/user_actions .results.action_type may be get_kubeconfig":  notHere,
	"GET /cloud/v1/user_actions .results.action_type may be get_logs":        notHere,
	"GET /cloud/v1/user_actions .results.api_group may be baremetal":         notHere,
	"GET /cloud/v1/user_actions .results.api_group may be basic_vm":          notHere,
	"GET /cloud/v1/user_actions .results.api_group may be rtbh":              notHere,
	"GET /cloud/v1/user_actions .results.api_group may be slurm":             notHere,
	"GET /streaming/ai/tasks .results.status may be RECEIVED":                published,
}
