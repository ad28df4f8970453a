package clients

import (
	"encoding/json"

	"github.com/G-Core/gcore-go/cloud"
	"github.com/G-Core/gcore-go/iam"
)

func account() {
	made.account = got(client.Iam.GetAccountOverview(ctx)).ID
	users := &client.Iam.Users
	var invited []int64
	for _, name := range []string{"one", "two"} {
		one := got(users.Invite(ctx, iam.UserInviteParams{
			ClientID: made.account, Email: name + "@walk.example.com", Name: str("Invited"),
			UserRole: iam.UserGroupParam{ID: num(5), Name: iam.UserGroupNameEngineers},
		}))
		invited = append(invited, one.UserID)
	}
	must(len(got(users.List(ctx, iam.UserListParams{Limit: num(1)})).Results) == 1)
	seen := map[int64]bool{}
	for _, one := range all(users.ListAutoPaging(ctx, iam.UserListParams{Limit: num(1)})) {
		seen[one.ID] = true
	}
	must(seen[invited[0]] && seen[invited[1]], "invited users are not listed")
	same(got(users.Update(ctx, invited[0], iam.UserUpdateParams{Name: str("Walker"), Lang: iam.UserLanguageEn})).Name, "Walker")
	same(got(users.Get(ctx, invited[0])).Name, "Walker")
	done(users.Delete(ctx, invited[1], iam.UserDeleteParams{ClientID: made.account}))
	refused(404, second(impatient.Iam.Users.Get(ctx, 1<<50)))
}

func roleAssignments() {
	invited := got(client.Iam.Users.Invite(ctx, iam.UserInviteParams{
		ClientID: made.account, Email: "three@walk.example.com",
		UserRole: iam.UserGroupParam{ID: num(2), Name: iam.UserGroupNameUsers},
	}))
	var invitation struct {
		Token string `json:"invitation_token"`
	}
	done(json.Unmarshal([]byte(invited.RawJSON()), &invitation))
	// The SDK has no method for it.
	joining := map[string]string{"token": invitation.Token, "password": "many small green apples"}
	done(client.Post(ctx, "iam/auth/accept_invitation", joining, nil))
	assignments := &client.Cloud.Users.RoleAssignments
	wanted := cloud.UserRoleAssignmentNewParams{
		UserID: invited.UserID, ClientID: num(made.account), ProjectID: num(project),
		Role: cloud.UserRoleAssignmentNewParamsRoleObserver,
	}
	one := got(assignments.New(ctx, wanted))
	same(one.ProjectID, project)
	refused(409, second(impatient.Cloud.Users.RoleAssignments.New(ctx, wanted)))
	changed := got(assignments.Update(ctx, one.ID, cloud.UserRoleAssignmentUpdateParams{
		UserID: invited.UserID, ClientID: num(made.account), ProjectID: num(project),
		Role: cloud.UserRoleAssignmentUpdateParamsRoleUser,
	}))
	same(changed.AssignmentID, one.ID)
	of := cloud.UserRoleAssignmentListParams{UserID: num(invited.UserID)}
	same(only(got(assignments.List(ctx, of)).Results).Role, "User")
	same(only(all(assignments.ListAutoPaging(ctx, of))).ID, one.ID)
	same(got(assignments.Delete(ctx, one.ID)).AssignmentID, one.ID)
}

func tokens() {
	tokens := &client.Iam.APITokens
	token := got(tokens.New(ctx, made.account, iam.APITokenNewParams{
		Name: "walk", Description: str("made by the SDK"), ExpDate: str("2099-01-01T00:00:00+00:00"),
		ClientUser: iam.APITokenNewParamsClientUser{
			Role: iam.UserGroupParam{ID: num(1), Name: iam.UserGroupNameAdministrators},
		},
	}))
	must(token.Token != "")
	var kept int64
	for _, one := range *got(tokens.List(ctx, made.account, iam.APITokenListParams{Deleted: no})) {
		if one.Name == "walk" {
			kept = one.ID
		}
	}
	read := got(tokens.Get(ctx, kept, iam.APITokenGetParams{ClientID: made.account}))
	same(read.Description, "made by the SDK")
	done(tokens.Delete(ctx, kept, iam.APITokenDeleteParams{ClientID: made.account}))
	refused(404, second(impatient.Iam.APITokens.Get(ctx, 1<<40, iam.APITokenGetParams{ClientID: made.account})))
}

func projects() {
	projects := &client.Cloud.Projects
	same(got(projects.Get(ctx, cloud.ProjectGetParams{})).ID, project)
	changed := got(projects.Update(ctx, cloud.ProjectUpdateParams{Description: str("walked through")}))
	same(changed.Description, "walked through")
	order := cloud.ProjectListParams{Limit: num(1), OrderBy: cloud.ProjectListParamsOrderByNameAsc}
	same(len(got(projects.List(ctx, order)).Results), 1)
	must(len(all(projects.ListAutoPaging(ctx, order))) >= 2)
	spare := got(projects.New(ctx, cloud.ProjectNewParams{Name: "walk spare"}))
	finished(projects.Delete(ctx, cloud.ProjectDeleteParams{ProjectID: num(spare.ID)}))
	spare = got(projects.New(ctx, cloud.ProjectNewParams{Name: "walk spare two"}))
	done(projects.DeleteAndPoll(ctx, cloud.ProjectDeleteParams{ProjectID: num(spare.ID)}))
	refused(404, second(impatient.Cloud.Projects.Get(ctx, cloud.ProjectGetParams{ProjectID: num(1 << 40)})))
}

func quotas() {
	quotas := &client.Cloud.Quotas
	everything := got(quotas.GetAll(ctx))
	must(everything.GlobalQuotas.ProjectCountUsage >= 1)
	regional := got(quotas.GetByRegion(ctx, cloud.QuotaGetByRegionParams{ClientID: made.account}))
	must(regional.VmCountLimit >= regional.VmCountUsage)
	same(got(quotas.GetGlobal(ctx, made.account)).ProjectCountUsage, everything.GlobalQuotas.ProjectCountUsage)
	threshold := &quotas.NotificationThreshold
	wanted := cloud.QuotaNotificationThresholdUpdateParams{Threshold: 95}
	same(got(threshold.Update(ctx, made.account, wanted)).Threshold, 95)
	same(got(threshold.Get(ctx, made.account)).Threshold, 95)
	done(threshold.Delete(ctx, made.account))
	same(got(threshold.Get(ctx, made.account)).Threshold, 80)
	requests := &quotas.Requests
	done(requests.New(ctx, cloud.QuotaRequestNewParams{
		Description: "walk",
		RequestedLimits: cloud.QuotaRequestNewParamsRequestedLimits{
			RegionalLimits: []cloud.QuotaRequestNewParamsRequestedLimitsRegionalLimit{
				{RegionID: num(region), VmCountLimit: num(2000)},
			},
		},
	}))
	inProgress := cloud.QuotaRequestListParams{Status: []string{"in progress"}}
	asked := only(got(requests.List(ctx, inProgress)).Results)
	same(only(all(requests.ListAutoPaging(ctx, inProgress))).ID, asked.ID)
	same(asked.RequestedLimits.RegionalLimits[0].VmCountLimit, 2000)
	same(got(requests.Get(ctx, asked.ID)).Status, "in progress")
	done(requests.Delete(ctx, asked.ID))
	refused(404, second(impatient.Cloud.Quotas.Requests.Get(ctx, asked.ID)))
}

func regions() {
	regions := &client.Cloud.Regions
	order := cloud.RegionListParams{
		Limit: num(1), OrderBy: cloud.RegionListParamsOrderByDisplayNameAsc, ShowVolumeTypes: yes,
	}
	first := only(got(regions.List(ctx, order)).Results)
	must(len(all(regions.ListAutoPaging(ctx, order))) > 1)
	read := got(regions.Get(ctx, cloud.RegionGetParams{RegionID: num(first.ID), ShowVolumeTypes: yes}))
	same(read.DisplayName, first.DisplayName)
	ranges := got(client.Cloud.IPRanges.List(ctx))
	must(len(ranges.Ranges) > 0)
}

func keys() {
	keys := &client.Cloud.SSHKeys
	key := got(keys.New(ctx, cloud.SSHKeyNewParams{Name: "walk key"}))
	must(key.PrivateKey != "")
	refused(409, second(impatient.Cloud.SSHKeys.New(ctx, cloud.SSHKeyNewParams{Name: "walk key"})))
	must(!got(keys.Update(ctx, key.ID, cloud.SSHKeyUpdateParams{SharedInProject: false})).SharedInProject)
	must(got(keys.Update(ctx, key.ID, cloud.SSHKeyUpdateParams{SharedInProject: true})).SharedInProject)
	same(got(keys.Get(ctx, key.ID, cloud.SSHKeyGetParams{})).Fingerprint, key.Fingerprint)
	spare := got(keys.New(ctx, cloud.SSHKeyNewParams{Name: "walk spare", PublicKey: str(key.PublicKey)}))
	order := cloud.SSHKeyListParams{Limit: num(1), OrderBy: cloud.SSHKeyListParamsOrderByNameDesc}
	same(only(got(keys.List(ctx, order)).Results).Name, "walk spare")
	same(len(all(keys.ListAutoPaging(ctx, order))), 2)
	done(keys.Delete(ctx, spare.ID, cloud.SSHKeyDeleteParams{}))
	made.key = key.Name
}
