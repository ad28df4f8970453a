package clients

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"time"

	gcore "github.com/G-Core/gcore-go"
	"github.com/G-Core/gcore-go/cloud"
	"github.com/G-Core/gcore-go/iam"
	"github.com/G-Core/gcore-go/option"
	"github.com/G-Core/gcore-go/packages/param"
	"github.com/G-Core/gcore-go/streaming"
)

func aiTasks() {
	ai := &client.Streaming.AITasks
	one := got(ai.New(ctx, streaming.AITaskNewParams{
		TaskName: streaming.AITaskNewParamsTaskNameTranscription, URL: "https://example.com/speech.mp4",
		AudioLanguage: str("eng"), ClientUserID: str("walk"), ClientEntityData: str("walk"),
	})).TaskID
	two := got(ai.New(ctx, streaming.AITaskNewParams{
		TaskName: streaming.AITaskNewParamsTaskNameContentModeration, Category: streaming.AITaskNewParamsCategoryNsfw,
		URL: "https://example.com/film.mp4", ClientUserID: str("walk"),
	})).TaskID
	same(got(ai.Get(ctx, one)).Status, "PENDING")
	search := streaming.AITaskListParams{Search: str("walk"), Limit: num(1), Ordering: streaming.AITaskListParamsOrderingStartedAt}
	same(len(got(ai.List(ctx, search)).Results), 1)
	same(len(all(ai.ListAutoPaging(ctx, search))), 2)
	must(got(ai.GetAISettings(ctx, streaming.AITaskGetAISettingsParams{
		Type: streaming.AITaskGetAISettingsParamsTypeLanguageSupport, AudioLanguage: str("eng"), SubtitlesLanguage: str("eng"),
	})).JSON.Supported.Valid())
	got(ai.Cancel(ctx, one))
	got(ai.Cancel(ctx, two))
	same(got(ai.Get(ctx, one)).Status, "REVOKED")
	refused(404, second(impatient.Streaming.AITasks.Get(ctx, "00000000-0000-4000-8000-000000000000")))
}

func tasks() {
	tasks := &client.Cloud.Tasks
	networks := cloud.TaskListParams{
		State: []string{"FINISHED"}, TaskType: str("create_network"), Limit: num(2), OrderBy: cloud.TaskListParamsOrderByDesc,
	}
	must(len(got(tasks.List(ctx, networks)).Results) == 2)
	listed := all(tasks.ListAutoPaging(ctx, networks))
	must(len(listed) > 2)
	same(got(tasks.Get(ctx, listed[0].ID)).TaskType, "create_network")
	must(got(tasks.AcknowledgeOne(ctx, listed[0].ID)).AcknowledgedAt != "")
	done(tasks.AcknowledgeAll(ctx, cloud.TaskAcknowledgeAllParams{ProjectID: num(project)}))
	// Without the server's help: the SDK looks once a second.
	plain := gcore.NewClient(common()...)
	list := got(plain.Cloud.Networks.New(ctx, cloud.NetworkNewParams{Name: "walk polled", CreateRouter: no}))
	same(got(plain.Cloud.Tasks.Poll(ctx, only(list.Tasks))).State, cloud.TaskStateFinished)
}

func reports() {
	recent := cloud.AuditLogListParams{Limit: num(500), OrderBy: cloud.AuditLogListParamsOrderByDesc}
	must(len(got(client.Cloud.AuditLogs.List(ctx, recent)).Results) > 10)
	must(len(all(client.Cloud.AuditLogs.ListAutoPaging(ctx, recent))) > 10)
	today := time.Now().UTC()
	yesterday := today.AddDate(0, 0, -1)
	costs := &client.Cloud.CostReports
	totals := got(costs.GetAggregated(ctx, cloud.CostReportGetAggregatedParams{
		TimeFrom: yesterday, TimeTo: today, EnableLastDay: yes,
	}))
	same(int(totals.Count), len(totals.Results))
	detailed := got(costs.GetDetailed(ctx, cloud.CostReportGetDetailedParams{
		TimeFrom: yesterday, TimeTo: today, EnableLastDay: yes, Limit: num(1000), OrderBy: []string{"billing_value.desc", "type.asc"},
	}))
	must(len(detailed.Results) > 0)
	got(costs.GetAggregatedMonthly(ctx, cloud.CostReportGetAggregatedMonthlyParams{YearMonth: str(today.Format("2006-01")), Types: []string{"volume"}}))
	usage := got(client.Cloud.UsageReports.Get(ctx, cloud.UsageReportGetParams{
		TimeFrom: yesterday, TimeTo: today, EnableLastDay: yes,
		SchemaFilter: cloud.UsageReportGetParamsSchemaFilterUnion{
			OfVolume: &cloud.UsageReportGetParamsSchemaFilterVolume{Field: "volume_type", Values: []string{"standard"}},
		},
	}))
	must(usage.Count > 0)
	refused(400, second(impatient.Cloud.CostReports.GetAggregated(ctx, cloud.CostReportGetAggregatedParams{
		TimeFrom: today.AddDate(0, 0, -40), TimeTo: today,
	})))
}

func refusals() {
	keys := &impatient.Cloud.SSHKeys
	stranger := gcore.NewClient(common(option.WithAPIKey("7_wrong"), option.WithMaxRetries(0))...)
	refused(401, second(stranger.Cloud.Projects.List(ctx, cloud.ProjectListParams{})))
	refusal := refused(400, second(keys.New(ctx, cloud.SSHKeyNewParams{Name: ""})))
	var told struct {
		Fields map[string][]string `json:"invalid_fields"`
	}
	done(json.Unmarshal([]byte(refusal.RawJSON()), &told))
	must(len(told.Fields["name"]) > 0, "the refusal doesn't name the field:", refusal.RawJSON())
	refused(404, second(keys.Get(ctx, "00000000-0000-4000-8000-000000000000", cloud.SSHKeyGetParams{})))
	once := option.WithHeader("Idempotency-Key", "walk")
	kept := got(keys.New(ctx, cloud.SSHKeyNewParams{Name: "walk once"}, once))
	refused(409, second(keys.New(ctx, cloud.SSHKeyNewParams{Name: "walk once"}, once)))
	refused(422, second(keys.New(ctx, cloud.SSHKeyNewParams{Name: "walk twice"}, once)))
	done(keys.Delete(ctx, kept.ID, cloud.SSHKeyDeleteParams{}))
	token := got(client.Iam.APITokens.New(ctx, made.account, iam.APITokenNewParams{
		Name: "reader", ExpDate: param.Null[string](),
		ClientUser: iam.APITokenNewParamsClientUser{Role: iam.UserGroupParam{ID: num(2), Name: iam.UserGroupNameUsers}},
	}))
	reader := gcore.NewClient(common(option.WithAPIKey(token.Token), option.WithMaxRetries(0))...)
	must(len(got(reader.Cloud.Projects.List(ctx, cloud.ProjectListParams{})).Results) > 0)
	refused(403, second(reader.Cloud.SSHKeys.New(ctx, cloud.SSHKeyNewParams{Name: "walk reader"})))
	refused(404, second(impatient.Cloud.Registries.List(ctx, cloud.RegistryListParams{})))
	tooOften()
	lostServer()
}

func tooOften() {
	limited := func(retries int) gcore.Client {
		return gcore.NewClient(common(option.WithBaseURL(os.Getenv("LIMITED_BASE_URL")),
			option.WithAPIKey(os.Getenv("LIMITED_API_KEY")), option.WithMaxRetries(retries))...)
	}
	hasty, patient := limited(0), limited(5)
	var err error
	for i := 0; i < 1000 && err == nil; i++ {
		_, err = hasty.Cloud.Projects.List(ctx, cloud.ProjectListParams{})
	}
	refused(429, err)
	must(len(got(patient.Cloud.Projects.List(ctx, cloud.ProjectListParams{})).Results) > 0)
}

func lostServer() {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	done(err)
	defer silent.Close()
	slow := gcore.NewClient(common(option.WithBaseURL("http://"+silent.Addr().String()),
		option.WithRequestTimeout(200*time.Millisecond), option.WithMaxRetries(0))...)
	_, err = slow.Cloud.Projects.List(ctx, cloud.ProjectListParams{})
	must(errors.Is(err, context.DeadlineExceeded), "no time-out:", err)
	nowhere := gcore.NewClient(common(option.WithBaseURL("http://127.0.0.1:9"), option.WithMaxRetries(0))...)
	_, err = nowhere.Cloud.Projects.List(ctx, cloud.ProjectListParams{})
	var refusal *gcore.Error
	must(err != nil && !errors.As(err, &refusal), "no error of the connection:", err)
}

// rawAnswers reads answers as they came, whole, in a stream, and with their headers.
func rawAnswers() {
	var answer *http.Response
	listed := got(client.Cloud.Projects.List(ctx, cloud.ProjectListParams{}, option.WithResponseInto(&answer)))
	must(answer.Header.Get("X-Request-Id") != "")
	var raw struct{ Count int64 }
	done(json.Unmarshal([]byte(listed.RawJSON()), &raw))
	same(raw.Count, listed.Count)
	var body []byte
	got(client.Cloud.Projects.Get(ctx, cloud.ProjectGetParams{}, option.WithResponseBodyInto(&body)))
	var read struct{ ID int64 }
	done(json.Unmarshal(body, &read))
	same(read.ID, project)
	var stream *http.Response
	_, err := client.Cloud.Regions.List(ctx, cloud.RegionListParams{}, option.WithResponseBodyInto(&stream))
	done(err)
	defer stream.Body.Close()
	var streamed struct{ Results []struct{ ID int64 } }
	done(json.NewDecoder(stream.Body).Decode(&streamed))
	must(len(streamed.Results) > 0)
}
