package clients

import (
	"encoding/json"
	"os"
	"time"

	gcore "github.com/G-Core/gcore-go"
	"github.com/G-Core/gcore-go/cloud"
	"github.com/G-Core/gcore-go/packages/param"
)

func networks() {
	networks := &client.Cloud.Networks
	network := got(networks.NewAndPoll(ctx, cloud.NetworkNewParams{
		Name: "walk net", CreateRouter: no, Type: cloud.NetworkNewParamsTypeVxlan, Tags: map[string]string{"env": "walk"},
	}))
	same(network.Name, "walk net")
	same(only(network.Tags).Value, "walk")
	task := finished(networks.New(ctx, cloud.NetworkNewParams{Name: "walk net two"}))
	other := only(task.CreatedResources.Networks)
	order := cloud.NetworkListParams{Limit: num(1), OrderBy: cloud.NetworkListParamsOrderByNameDesc}
	same(only(got(networks.List(ctx, order)).Results).ID, other)
	same(len(all(networks.ListAutoPaging(ctx, order))), 3)
	tagged := cloud.NetworkListParams{TagKey: []string{"env"}, OwnedBy: cloud.NetworkListParamsOwnedByProject}
	same(only(all(networks.ListAutoPaging(ctx, tagged))).ID, network.ID)
	pair := cloud.NetworkListParams{TagKeyValue: str(`{"env": "walk"}`)}
	same(only(all(networks.ListAutoPaging(ctx, pair))).ID, network.ID)
	changed := got(networks.Update(ctx, network.ID, cloud.NetworkUpdateParams{
		Name: str("walk net one"), Tags: cloud.TagUpdateMap{"env": nil},
	}))
	same(changed.Name, "walk net one")
	same(len(changed.Tags), 0)
	finished(networks.Delete(ctx, other, cloud.NetworkDeleteParams{}))
	refused(404, second(impatient.Cloud.Networks.Get(ctx, other, cloud.NetworkGetParams{})))
	third := got(networks.NewAndPoll(ctx, cloud.NetworkNewParams{Name: "walk net three"}))
	done(networks.DeleteAndPoll(ctx, third.ID, cloud.NetworkDeleteParams{}))
	made.network = got(networks.Get(ctx, network.ID, cloud.NetworkGetParams{})).ID
}

func subnets() {
	subnets := &client.Cloud.Networks.Subnets
	subnet := got(subnets.NewAndPoll(ctx, cloud.NetworkSubnetNewParams{
		Name: "walk subnet", NetworkID: made.network, Cidr: "10.77.0.0/24", EnableDhcp: yes, DNSNameservers: []string{"1.1.1.1"},
	}))
	same(subnet.GatewayIP, "10.77.0.1")
	other := func(name, cidr string) cloud.NetworkSubnetNewParams {
		return cloud.NetworkSubnetNewParams{
			Name: name, NetworkID: made.network, Cidr: cidr, GatewayIP: param.Null[string](), ConnectToNetworkRouter: no,
			IPVersion: 4, HostRoutes: []cloud.NetworkSubnetNewParamsHostRoute{},
		}
	}
	task := finished(subnets.New(ctx, other("walk two", "10.78.0.0/24")))
	two := only(task.CreatedResources.Subnets)
	order := cloud.NetworkSubnetListParams{
		NetworkID: str(made.network), Limit: num(1), OrderBy: cloud.NetworkSubnetListParamsOrderByCidrDesc,
	}
	same(only(got(subnets.List(ctx, order)).Results).ID, two)
	same(len(all(subnets.ListAutoPaging(ctx, order))), 2)
	changed := got(subnets.Update(ctx, two, cloud.NetworkSubnetUpdateParams{
		Name:       str("walk subnet 2"),
		HostRoutes: []cloud.NetworkSubnetUpdateParamsHostRoute{{Destination: "10.9.0.0/16", Nexthop: "10.78.0.9"}},
	}))
	same(only(changed.HostRoutes).Nexthop, "10.78.0.9")
	finished(subnets.Delete(ctx, two, cloud.NetworkSubnetDeleteParams{}))
	three := got(subnets.NewAndPoll(ctx, other("walk three", "10.78.0.0/24")))
	done(subnets.DeleteAndPoll(ctx, three.ID, cloud.NetworkSubnetDeleteParams{}))
	made.subnet = got(subnets.Get(ctx, subnet.ID, cloud.NetworkSubnetGetParams{})).ID
}

func routers() {
	routers := &client.Cloud.Networks.Routers
	outside := only(all(client.Cloud.Networks.ListAutoPaging(ctx, cloud.NetworkListParams{
		External: yes, OwnedBy: cloud.NetworkListParamsOwnedByAny,
	})))
	router := got(routers.NewAndPoll(ctx, cloud.NetworkRouterNewParams{
		Name: "walk router",
		ExternalGatewayInfo: cloud.NetworkRouterNewParamsExternalGatewayInfoUnion{
			OfRouterExternalDefaultGwSerializer: &cloud.NetworkRouterNewParamsExternalGatewayInfoRouterExternalDefaultGwSerializer{
				Type: "default", EnableSnat: yes,
			},
		},
		Interfaces: []cloud.NetworkRouterNewParamsInterface{{SubnetID: made.subnet, Type: "subnet"}},
		Routes:     []cloud.NetworkRouterNewParamsRoute{{Destination: "10.9.0.0/16", Nexthop: "10.77.0.9"}},
	}))
	same(router.ExternalGatewayInfo.NetworkID, outside.ID)
	same(only(only(router.Interfaces).IPAssignments).SubnetID, made.subnet)
	byName := cloud.NetworkRouterListParams{Name: str("walk router"), Limit: num(1)}
	same(only(got(routers.List(ctx, byName)).Results).ID, router.ID)
	same(only(all(routers.ListAutoPaging(ctx, byName))).ID, router.ID)
	finished(routers.Update(ctx, router.ID, cloud.NetworkRouterUpdateParams{
		Name: str("walk router one"), Routes: []cloud.NetworkRouterUpdateParamsRoute{},
		ExternalGatewayInfo: cloud.NetworkRouterUpdateParamsExternalGatewayInfo{
			Type: "manual", NetworkID: outside.ID, EnableSnat: no,
		},
	}))
	changed := got(routers.Get(ctx, router.ID, cloud.NetworkRouterGetParams{}))
	must(changed.Name == "walk router one" && len(changed.Routes) == 0 && !changed.ExternalGatewayInfo.EnableSnat)
	renamed := got(routers.UpdateAndPoll(ctx, router.ID, cloud.NetworkRouterUpdateParams{Name: str("walk router two")}))
	same(renamed.Name, "walk router two")
	// What changes nothing has a task as well, which this SDK needs.
	got(routers.UpdateAndPoll(ctx, router.ID, cloud.NetworkRouterUpdateParams{Name: str("walk router two")}))
	detach := cloud.NetworkRouterDetachSubnetParams{SubnetID: cloud.SubnetIDParam{SubnetID: made.subnet}}
	same(len(got(routers.DetachSubnet(ctx, router.ID, detach)).Interfaces), 0)
	// Floating IPs and clusters of later steps need its gateway address.
	attached := got(routers.AttachSubnet(ctx, router.ID, cloud.NetworkRouterAttachSubnetParams{SubnetID: made.subnet}))
	same(only(only(attached.Interfaces).IPAssignments).IPAddress, "10.77.0.1")
	task := finished(routers.New(ctx, cloud.NetworkRouterNewParams{Name: "walk bare"}))
	finished(routers.Delete(ctx, only(task.CreatedResources.Routers), cloud.NetworkRouterDeleteParams{}))
	bare := got(routers.NewAndPoll(ctx, cloud.NetworkRouterNewParams{Name: "walk bare"}))
	done(routers.DeleteAndPoll(ctx, bare.ID, cloud.NetworkRouterDeleteParams{}))
	refused(404, second(impatient.Cloud.Networks.Routers.Get(ctx, bare.ID, cloud.NetworkRouterGetParams{})))
}

func securityGroups() {
	groups := &client.Cloud.SecurityGroups
	group := got(groups.NewAndPoll(ctx, cloud.SecurityGroupNewParams{
		Name: "walk group", Description: str("walk"), Tags: map[string]string{"env": "walk"},
		Rules: []cloud.SecurityGroupNewParamsRule{
			{Direction: "ingress", Ethertype: "IPv4", Protocol: "tcp", PortRangeMin: num(22), PortRangeMax: num(22)},
		},
	}))
	task := finished(groups.New(ctx, cloud.SecurityGroupNewParams{Name: "walk group two"}))
	two := only(task.CreatedResources.SecurityGroups)
	tagged := cloud.SecurityGroupListParams{TagKey: []string{"env"}, Limit: num(1)}
	same(only(got(groups.List(ctx, tagged)).Results).ID, group.ID)
	same(only(all(groups.ListAutoPaging(ctx, tagged))).ID, group.ID)
	rules := &groups.Rules
	rule := got(rules.NewAndPoll(ctx, group.ID, cloud.SecurityGroupRuleNewParams{
		Direction: cloud.SecurityGroupRuleNewParamsDirectionEgress, Protocol: cloud.SecurityGroupRuleNewParamsProtocolUdp,
		PortRangeMin: num(53), PortRangeMax: num(53), RemoteIPPrefix: str("10.0.0.0/8"),
	}))
	same(rule.RemoteIPPrefix, "10.0.0.0/8")
	task = finished(rules.New(ctx, group.ID, cloud.SecurityGroupRuleNewParams{
		Direction: cloud.SecurityGroupRuleNewParamsDirectionIngress, Protocol: cloud.SecurityGroupRuleNewParamsProtocolIcmp,
		RemoteGroupID: str(two),
	}))
	ofGroup := only(task.CreatedResources.SecurityGroupRules)
	replaced := got(rules.Replace(ctx, rule.ID, cloud.SecurityGroupRuleReplaceParams{
		SecurityGroupID: group.ID, Direction: cloud.SecurityGroupRuleReplaceParamsDirectionEgress,
		Protocol: cloud.SecurityGroupRuleReplaceParamsProtocolUdp, PortRangeMin: num(53), PortRangeMax: num(54),
	}))
	same(replaced.PortRangeMax, 54)
	done(rules.DeleteAndPoll(ctx, replaced.ID, cloud.SecurityGroupRuleDeleteParams{GroupID: group.ID}))
	finished(rules.Delete(ctx, ofGroup, cloud.SecurityGroupRuleDeleteParams{GroupID: group.ID}))
	changed := got(groups.UpdateAndPoll(ctx, group.ID, cloud.SecurityGroupUpdateParams{
		Name: str("walk group one"),
		Rules: []cloud.SecurityGroupUpdateParamsRule{
			{Direction: "ingress", Ethertype: "IPv4", Protocol: "tcp", PortRangeMin: num(22), PortRangeMax: num(23)},
		},
	}))
	same(changed.Name, "walk group one")
	got(groups.UpdateAndPoll(ctx, group.ID, cloud.SecurityGroupUpdateParams{Name: str("walk group one")}))
	finished(groups.Update(ctx, group.ID, cloud.SecurityGroupUpdateParams{Description: str("walked")}))
	same(got(groups.Copy(ctx, group.ID, cloud.SecurityGroupCopyParams{Name: "walk copy"})).Name, "walk copy")
	same(got(groups.RevertToDefault(ctx, two, cloud.SecurityGroupRevertToDefaultParams{})).ID, two)
	done(groups.Delete(ctx, two, cloud.SecurityGroupDeleteParams{}))
	refused(404, second(impatient.Cloud.SecurityGroups.Get(ctx, two, cloud.SecurityGroupGetParams{})))
	made.group = got(groups.Get(ctx, group.ID, cloud.SecurityGroupGetParams{})).ID
}

func secrets() {
	secrets := &client.Cloud.Secrets
	var bundle struct {
		Certificate string `json:"certificate"`
		Chain       string `json:"certificate_chain"`
		Key         string `json:"private_key"`
	}
	done(json.Unmarshal([]byte(os.Getenv("TLS_BUNDLE")), &bundle))
	wanted := cloud.SecretUploadTlsCertificateParams{
		Name: "walk certificate",
		Payload: cloud.SecretUploadTlsCertificateParamsPayload{
			Certificate: bundle.Certificate, CertificateChain: bundle.Chain, PrivateKey: bundle.Key,
		},
	}
	secret := got(secrets.UploadTlsCertificateAndPoll(ctx, wanted))
	wanted.Name, wanted.Expiration = "walk old", gcore.Time(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC))
	two := only(finished(secrets.UploadTlsCertificate(ctx, wanted)).CreatedResources.Secrets)
	one := cloud.SecretListParams{Limit: num(1)}
	same(len(got(secrets.List(ctx, one)).Results), 1)
	same(len(all(secrets.ListAutoPaging(ctx, one))), 2)
	same(got(secrets.Get(ctx, two, cloud.SecretGetParams{})).Expiration.Year(), 2040)
	wanted.Payload.PrivateKey = "key"
	refused(400, second(impatient.Cloud.Secrets.UploadTlsCertificate(ctx, wanted)))
	finished(secrets.Delete(ctx, two, cloud.SecretDeleteParams{}))
	done(secrets.DeleteAndPoll(ctx, secret.ID, cloud.SecretDeleteParams{}))
	refused(404, second(impatient.Cloud.Secrets.Get(ctx, two, cloud.SecretGetParams{})))
}

func balancers() {
	balancers := &client.Cloud.LoadBalancers
	flavors := got(balancers.Flavors.List(ctx, cloud.LoadBalancerFlavorListParams{IncludePrices: yes})).Results
	flavor, otherFlavor := flavors[0].FlavorID, flavors[1].FlavorID
	balancer := got(balancers.NewAndPoll(ctx, cloud.LoadBalancerNewParams{
		Name: "walk balancer", Flavor: str(flavor), VipNetworkID: str(made.network), Tags: map[string]string{"env": "walk"},
		FloatingIP: cloud.LoadBalancerNewParamsFloatingIPUnion{OfNew: &cloud.LoadBalancerNewParamsFloatingIPNew{}},
		Listeners: []cloud.LoadBalancerNewParamsListener{{
			Name: "walk web", Protocol: cloud.LbListenerProtocolHTTP, ProtocolPort: 80,
			Pools: []cloud.LoadBalancerNewParamsListenerPool{{
				Name: "walk servers", Protocol: cloud.LbPoolProtocolHTTP, LbAlgorithm: cloud.LbAlgorithmRoundRobin,
				Healthmonitor: cloud.LoadBalancerNewParamsListenerPoolHealthmonitor{
					Type: cloud.LbHealthMonitorTypeTcp, Delay: 10, Timeout: 5, MaxRetries: 2,
				},
				Members: []cloud.LoadBalancerNewParamsListenerPoolMember{
					{Address: "10.77.0.9", ProtocolPort: 80, SubnetID: str(made.subnet)},
				},
			}},
		}},
	}))
	same(balancer.Flavor.FlavorID, flavor)
	changed := got(balancers.Update(ctx, balancer.ID, cloud.LoadBalancerUpdateParams{
		Name: str("walk balancer one"), PreferredConnectivity: cloud.LoadBalancerMemberConnectivityL3,
	}))
	same(changed.Name, "walk balancer one")
	tagged := cloud.LoadBalancerListParams{TagKey: []string{"env"}, ShowStats: yes, Limit: num(1)}
	same(only(got(balancers.List(ctx, tagged)).Results).ID, balancer.ID)
	same(only(all(balancers.ListAutoPaging(ctx, tagged))).ID, balancer.ID)
	resized := got(balancers.ResizeAndPoll(ctx, balancer.ID, cloud.LoadBalancerResizeParams{Flavor: otherFlavor}))
	same(resized.Flavor.FlavorID, otherFlavor)
	got(balancers.FailoverAndPoll(ctx, balancer.ID, cloud.LoadBalancerFailoverParams{Force: yes}))
	finished(balancers.Resize(ctx, balancer.ID, cloud.LoadBalancerResizeParams{Flavor: flavor}))
	finished(balancers.Failover(ctx, balancer.ID, cloud.LoadBalancerFailoverParams{}))
	got(balancers.Metrics.List(ctx, balancer.ID, cloud.LoadBalancerMetricListParams{
		TimeInterval: 1, TimeUnit: cloud.InstanceMetricsTimeUnitHour,
	}))
	status := got(balancers.Statuses.Get(ctx, balancer.ID, cloud.LoadBalancerStatusGetParams{}))
	same(status.Listeners[0].Pools[0].Members[0].OperatingStatus, cloud.LoadBalancerOperatingStatusOnline)
	same(only(got(balancers.Statuses.List(ctx, cloud.LoadBalancerStatusListParams{})).Results).ID, balancer.ID)

	listener := listeners(balancer.ID)
	pool := balancerPools(balancer.ID, listener)
	policies(listener, pool)
	finished(balancers.Listeners.Delete(ctx, listener, cloud.LoadBalancerListenerDeleteParams{}))
	finished(balancers.Pools.Delete(ctx, pool, cloud.LoadBalancerPoolDeleteParams{}))
	done(balancers.DeleteAndPoll(ctx, balancer.ID, cloud.LoadBalancerDeleteParams{}))
	task := finished(balancers.New(ctx, cloud.LoadBalancerNewParams{Name: "walk short"}))
	two := only(task.CreatedResources.Loadbalancers)
	got(balancers.Get(ctx, two, cloud.LoadBalancerGetParams{WithDDOS: yes, ShowStats: yes}))
	finished(balancers.Delete(ctx, two, cloud.LoadBalancerDeleteParams{}))
}

func listeners(balancer string) string {
	listeners := &client.Cloud.LoadBalancers.Listeners
	listener := got(listeners.NewAndPoll(ctx, cloud.LoadBalancerListenerNewParams{
		Name: "walk listener", LoadBalancerID: balancer, Protocol: cloud.LbListenerProtocolHTTP, ProtocolPort: 81,
		AllowedCidrs: []string{"10.0.0.0/8"},
	}))
	same(got(listeners.UpdateAndPoll(ctx, listener.ID, cloud.LoadBalancerListenerUpdateParams{ConnectionLimit: num(5)})).ConnectionLimit, 5)
	got(listeners.UpdateAndPoll(ctx, listener.ID, cloud.LoadBalancerListenerUpdateParams{ConnectionLimit: num(5)}))
	finished(listeners.Update(ctx, listener.ID, cloud.LoadBalancerListenerUpdateParams{ConnectionLimit: num(6)}))
	same(got(listeners.Get(ctx, listener.ID, cloud.LoadBalancerListenerGetParams{ShowStats: yes})).Stats.TotalConnections, 0)
	named := cloud.LoadBalancerListenerListParams{LoadBalancerID: str(balancer), Name: str("listener")}
	same(only(got(listeners.List(ctx, named)).Results).ID, listener.ID)
	task := finished(listeners.New(ctx, cloud.LoadBalancerListenerNewParams{
		Name: "walk short", LoadBalancerID: balancer, Protocol: cloud.LbListenerProtocolTcp, ProtocolPort: 82,
	}))
	short := only(task.CreatedResources.Listeners)
	done(listeners.DeleteAndPoll(ctx, short, cloud.LoadBalancerListenerDeleteParams{}))
	return listener.ID
}

func balancerPools(balancer, listener string) string {
	pools := &client.Cloud.LoadBalancers.Pools
	wanted := cloud.LoadBalancerPoolNewParams{
		Name: "walk spare", LoadBalancerID: str(balancer), Protocol: cloud.LbPoolProtocolHTTP,
		LbAlgorithm: cloud.LbAlgorithmRoundRobin,
	}
	spare := got(pools.NewAndPoll(ctx, wanted))
	changed := got(pools.UpdateAndPoll(ctx, spare.ID, cloud.LoadBalancerPoolUpdateParams{LbAlgorithm: cloud.LbAlgorithmSourceIP}))
	same(changed.LbAlgorithm, cloud.LbAlgorithmSourceIP)
	got(pools.UpdateAndPoll(ctx, spare.ID, cloud.LoadBalancerPoolUpdateParams{LbAlgorithm: cloud.LbAlgorithmSourceIP}))
	finished(pools.Update(ctx, spare.ID, cloud.LoadBalancerPoolUpdateParams{Name: str("walk spare one")}))
	finished(pools.HealthMonitors.New(ctx, spare.ID, cloud.LoadBalancerPoolHealthMonitorNewParams{
		Type: cloud.LbHealthMonitorTypeHTTP, Delay: 10, Timeout: 5, MaxRetries: 2, URLPath: str("/healthz"),
	}))
	same(got(pools.Get(ctx, spare.ID, cloud.LoadBalancerPoolGetParams{})).Healthmonitor.URLPath, "/healthz")
	done(pools.HealthMonitors.Delete(ctx, spare.ID, cloud.LoadBalancerPoolHealthMonitorDeleteParams{}))
	same(len(got(pools.List(ctx, cloud.LoadBalancerPoolListParams{LoadBalancerID: str(balancer), Details: yes})).Results), 2)
	task := finished(pools.New(ctx, cloud.LoadBalancerPoolNewParams{
		Name: "walk short", ListenerID: str(listener), Protocol: cloud.LbPoolProtocolHTTP, LbAlgorithm: cloud.LbAlgorithmRoundRobin,
	}))
	done(pools.DeleteAndPoll(ctx, only(task.CreatedResources.Pools), cloud.LoadBalancerPoolDeleteParams{}))
	members := &pools.Members
	member := got(members.NewAndPoll(ctx, spare.ID, cloud.LoadBalancerPoolMemberNewParams{
		Address: "10.77.0.10", ProtocolPort: 80, SubnetID: str(made.subnet), MonitorPort: num(8080),
	}))
	same(member.SubnetID, made.subnet)
	task = finished(members.New(ctx, spare.ID, cloud.LoadBalancerPoolMemberNewParams{
		Address: "10.77.0.9", ProtocolPort: 80, Backup: yes,
	}))
	done(members.DeleteAndPoll(ctx, only(task.CreatedResources.Members), cloud.LoadBalancerPoolMemberDeleteParams{PoolID: spare.ID}))
	finished(members.Delete(ctx, member.ID, cloud.LoadBalancerPoolMemberDeleteParams{PoolID: spare.ID}))
	return spare.ID
}

func policies(listener, pool string) {
	policies := &client.Cloud.LoadBalancers.L7Policies
	policy := got(policies.NewAndPoll(ctx, cloud.LoadBalancerL7PolicyNewParams{
		OfRedirectToPool: &cloud.LoadBalancerL7PolicyNewParamsBodyRedirectToPool{
			ListenerID: listener, RedirectPoolID: pool, Name: str("walk policy"), Tags: []string{"walk"},
		},
	}))
	toAddress := func(address string) cloud.LoadBalancerL7PolicyUpdateParams {
		return cloud.LoadBalancerL7PolicyUpdateParams{
			OfRedirectToURL: &cloud.LoadBalancerL7PolicyUpdateParamsBodyRedirectToURL{RedirectURL: address},
		}
	}
	same(got(policies.UpdateAndPoll(ctx, policy.ID, toAddress("https://www.example.com"))).RedirectURL, "https://www.example.com")
	got(policies.UpdateAndPoll(ctx, policy.ID, toAddress("https://www.example.com")))
	finished(policies.Update(ctx, policy.ID, toAddress("https://www.example.com/a")))
	same(got(policies.Get(ctx, policy.ID, cloud.LoadBalancerL7PolicyGetParams{})).Position, 1)
	same(only(got(policies.List(ctx, cloud.LoadBalancerL7PolicyListParams{})).Results).ID, policy.ID)
	rules := &policies.Rules
	rule := got(rules.NewAndPoll(ctx, policy.ID, cloud.LoadBalancerL7PolicyRuleNewParams{
		Type: cloud.LoadBalancerL7PolicyRuleNewParamsTypePath, Value: "/images",
		CompareType: cloud.LoadBalancerL7PolicyRuleNewParamsCompareTypeStartsWith,
	}))
	header := func(value string) cloud.LoadBalancerL7PolicyRuleReplaceParams {
		return cloud.LoadBalancerL7PolicyRuleReplaceParams{
			L7policyID: policy.ID, Type: cloud.LoadBalancerL7PolicyRuleReplaceParamsTypeHeader, Key: str("Accept"), Value: str(value),
			CompareType: cloud.LoadBalancerL7PolicyRuleReplaceParamsCompareTypeEqualTo,
		}
	}
	same(got(rules.ReplaceAndPoll(ctx, rule.ID, header("x"))).Key, "Accept")
	got(rules.ReplaceAndPoll(ctx, rule.ID, header("x")))
	finished(rules.Replace(ctx, rule.ID, header("y")))
	same(got(rules.Get(ctx, rule.ID, cloud.LoadBalancerL7PolicyRuleGetParams{L7policyID: policy.ID})).Value, "y")
	same(only(got(rules.List(ctx, policy.ID, cloud.LoadBalancerL7PolicyRuleListParams{})).Results).ID, rule.ID)
	done(rules.DeleteAndPoll(ctx, rule.ID, cloud.LoadBalancerL7PolicyRuleDeleteParams{L7policyID: policy.ID}))
	task := finished(rules.New(ctx, policy.ID, cloud.LoadBalancerL7PolicyRuleNewParams{
		Type: cloud.LoadBalancerL7PolicyRuleNewParamsTypeHostName, Value: "example.com",
		CompareType: cloud.LoadBalancerL7PolicyRuleNewParamsCompareTypeEqualTo,
	}))
	two := only(task.CreatedResources.L7rules)
	finished(rules.Delete(ctx, two, cloud.LoadBalancerL7PolicyRuleDeleteParams{L7policyID: policy.ID}))
	done(policies.DeleteAndPoll(ctx, policy.ID, cloud.LoadBalancerL7PolicyDeleteParams{}))
	task = finished(policies.New(ctx, cloud.LoadBalancerL7PolicyNewParams{
		OfReject: &cloud.LoadBalancerL7PolicyNewParamsBodyReject{ListenerID: listener},
	}))
	finished(policies.Delete(ctx, only(task.CreatedResources.L7polices), cloud.LoadBalancerL7PolicyDeleteParams{}))
}
