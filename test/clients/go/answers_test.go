package clients

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/G-Core/gcore-go/packages/respjson"
)

// extra are the fields of answers that the SDK doesn't know, as Type.field.
var extra = map[string]bool{}

// findings are what an answer lacks of what the SDK requires or has of another type, and what the SDK doesn't know.
type findings struct{ faults, extra []string }

func (f *findings) add(more findings) {
	f.faults = append(f.faults, more.faults...)
	f.extra = append(f.extra, more.extra...)
}

// inspect looks at an answer and all that it holds.
func inspect(value reflect.Value, at string) findings {
	var found findings
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			found = inspect(value.Elem(), at)
		}
	case reflect.Slice:
		for i := 0; i < value.Len(); i++ {
			found.add(inspect(value.Index(i), fmt.Sprintf("%s[%d]", at, i)))
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			found.add(inspect(value.MapIndex(key), fmt.Sprintf("%s[%v]", at, key)))
		}
	case reflect.Struct:
		found = inspectObject(value, at)
	}
	return found
}

func inspectObject(value reflect.Value, at string) findings {
	var found findings
	metadata := value.FieldByName("JSON")
	if !metadata.IsValid() || metadata.Kind() != reflect.Struct {
		return found
	}
	if variants := variantsOf(value); len(variants) > 0 {
		return bestOf(variants, at)
	}
	if more := metadata.FieldByName("ExtraFields"); more.IsValid() {
		for _, name := range more.MapKeys() {
			found.extra = append(found.extra, value.Type().Name()+"."+name.String())
		}
	}
	for i := 0; i < value.NumField(); i++ {
		field := value.Type().Field(i)
		seen, known := fieldOf(metadata, field.Name)
		if !known {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		here := at + "." + name
		// What is required may still be null: the SDK doesn't tell.
		switch {
		case seen.Raw() == respjson.Omitted && strings.Contains(field.Tag.Get("api"), "required"):
			found.faults = append(found.faults, here+" is missing")
		case seen.Raw() != respjson.Omitted && seen.Raw() != respjson.Null && !seen.Valid():
			found.faults = append(found.faults, here+" is of another type: "+seen.Raw())
		}
		if seen.Valid() {
			found.add(inspect(value.Field(i), here))
		}
	}
	return found
}

func fieldOf(metadata reflect.Value, name string) (respjson.Field, bool) {
	field := metadata.FieldByName(name)
	if !field.IsValid() {
		return respjson.Field{}, false
	}
	seen, known := field.Interface().(respjson.Field)
	return seen, known
}

// variantsOf reads a union as each of its forms.
func variantsOf(value reflect.Value) []reflect.Value {
	var found []reflect.Value
	for i := 0; i < value.NumMethod(); i++ {
		one := value.Type().Method(i)
		if strings.HasPrefix(one.Name, "As") && one.Name != "AsAny" && one.Type.NumIn() == 1 && one.Type.NumOut() == 1 {
			found = append(found, value.Method(i).Call(nil)[0])
		}
	}
	return found
}

// bestOf is what there is to say of the form that the answer fits best.
func bestOf(variants []reflect.Value, at string) findings {
	var best findings
	for i, variant := range variants {
		one := inspect(variant, at)
		fewer := len(one.faults) - len(best.faults)
		if i == 0 || fewer < 0 || fewer == 0 && len(one.extra) < len(best.extra) {
			best = one
		}
	}
	return best
}

func sorted(set map[string]bool) []string {
	names := []string{}
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
