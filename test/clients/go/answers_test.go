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

// faults says what an answer lacks of what the SDK requires, and what is of another type than the SDK expects.
func faults(value reflect.Value, at string) []string {
	var found []string
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !value.IsNil() {
			found = faults(value.Elem(), at)
		}
	case reflect.Slice:
		for i := 0; i < value.Len(); i++ {
			found = append(found, faults(value.Index(i), fmt.Sprintf("%s[%d]", at, i))...)
		}
	case reflect.Map:
		for _, key := range value.MapKeys() {
			found = append(found, faults(value.MapIndex(key), fmt.Sprintf("%s[%v]", at, key))...)
		}
	case reflect.Struct:
		found = faultsOfObject(value, at)
	}
	return found
}

func faultsOfObject(value reflect.Value, at string) []string {
	metadata := value.FieldByName("JSON")
	if !metadata.IsValid() || metadata.Kind() != reflect.Struct {
		return nil
	}
	if variants := variantsOf(value); len(variants) > 0 {
		return fewest(variants, at)
	}
	if more := metadata.FieldByName("ExtraFields"); more.IsValid() {
		for _, name := range more.MapKeys() {
			extra[value.Type().Name()+"."+name.String()] = true
		}
	}
	var found []string
	for i := 0; i < value.NumField(); i++ {
		field := value.Type().Field(i)
		seen, known := fieldOf(metadata, field.Name)
		if !known {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		here := at + "." + name
		isRequired := strings.Contains(field.Tag.Get("api"), "required")
		switch {
		case seen.Raw() == respjson.Omitted && isRequired:
			found = append(found, here+" is missing")
		case seen.Raw() == respjson.Null && isRequired:
			nulls[value.Type().Name()+"."+name] = true
		case seen.Raw() != respjson.Omitted && seen.Raw() != respjson.Null && !seen.Valid():
			found = append(found, here+" is of another type: "+seen.Raw())
		}
		if seen.Valid() {
			found = append(found, faults(value.Field(i), here)...)
		}
	}
	return found
}

// nulls are required fields that were null, as Type.field. The SDK doesn't tell which of them may be.
var nulls = map[string]bool{}

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

// fewest is what the form complains of that the answer fits best.
func fewest(variants []reflect.Value, at string) []string {
	var all [][]string
	for _, variant := range variants {
		all = append(all, faults(variant, at))
	}
	sort.SliceStable(all, func(i, j int) bool { return len(all[i]) < len(all[j]) })
	return all[0]
}

func sorted(set map[string]bool) []string {
	names := []string{}
	for name := range set {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
