package clients

import (
	"strings"

	"github.com/G-Core/gcore-go/cloud"
)

const version = "v1.31.14"

func poolOfCluster(name string) cloud.K8SClusterNewParamsPool {
	return cloud.K8SClusterNewParamsPool{
		Name: name, FlavorID: largerFlavor, MinNodeCount: 1, MaxNodeCount: num(3), BootVolumeSize: num(50),
		BootVolumeType: "ssd_hiiops", ServergroupPolicy: "anti-affinity",
	}
}

func clusters() {
	offers, clusters := &client.Cloud.K8S, &client.Cloud.K8S.Clusters
	must(len(got(offers.ListVersions(ctx, cloud.K8SListVersionsParams{})).Results) > 0)
	cluster := got(clusters.NewAndPoll(ctx, cloud.K8SClusterNewParams{
		Name: "walk", Version: version, Keypair: made.key, Pools: []cloud.K8SClusterNewParamsPool{poolOfCluster("web")},
		Cni: cloud.K8SClusterNewParamsCni{Provider: "cilium"}, FixedNetwork: str(made.network), FixedSubnet: str(made.subnet),
	}))
	same(cluster.Status, cloud.K8SClusterStatusProvisioned)
	same(only(got(clusters.List(ctx, cloud.K8SClusterListParams{})).Results).Name, "walk")
	changed := got(clusters.UpdateAndPoll(ctx, "walk", cloud.K8SClusterUpdateParams{
		Authentication: cloud.K8SClusterUpdateParamsAuthentication{Oidc: cloud.K8SClusterUpdateParamsAuthenticationOidc{
			IssuerURL: str("https://accounts.example.com"), ClientID: str("kubernetes"),
		}},
		AutoscalerConfig: map[string]string{"scan-interval": "20s"},
		Logging: cloud.K8SClusterUpdateParamsLogging{
			Enabled: yes, DestinationRegionID: num(region), TopicName: str("walk"),
			RetentionPolicy: cloud.LaasIndexRetentionPolicyParam{Period: num(45)},
		},
	}))
	same(changed.Authentication.Oidc.IssuerURL, "https://accounts.example.com")
	finished(clusters.Update(ctx, "walk", cloud.K8SClusterUpdateParams{AutoscalerConfig: map[string]string{"scan-interval": "30s"}}))
	got(clusters.UpdateAndPoll(ctx, "walk", cloud.K8SClusterUpdateParams{AutoscalerConfig: map[string]string{"scan-interval": "30s"}}))
	must(strings.Contains(got(clusters.GetCertificate(ctx, "walk", cloud.K8SClusterGetCertificateParams{})).Certificate, "BEGIN CERTIFICATE"))
	must(strings.HasPrefix(got(clusters.Kubeconfig.Get(ctx, "walk", cloud.K8SClusterKubeconfigGetParams{})).Config, "apiVersion"))
	latest := func() cloud.K8SClusterUpgradeParams {
		now.Helper()
		newer := got(clusters.ListVersionsForUpgrade(ctx, "walk", cloud.K8SClusterListVersionsForUpgradeParams{})).Results
		return cloud.K8SClusterUpgradeParams{Version: newer[len(newer)-1].Version}
	}
	wanted := latest()
	same(got(clusters.UpgradeAndPoll(ctx, "walk", wanted)).Version, wanted.Version)
	wanted = latest()
	finished(clusters.Upgrade(ctx, "walk", wanted))
	same(got(clusters.Get(ctx, "walk", cloud.K8SClusterGetParams{})).Version, wanted.Version)
	_, err := clusters.UpdateAndPoll(ctx, "walk", cloud.K8SClusterUpdateParams{Logging: cloud.K8SClusterUpdateParamsLogging{
		Enabled: yes, DestinationRegionID: num(region), TopicName: str("simulate-failure"),
	}})
	must(err != nil && strings.Contains(err.Error(), "refused topic"), "the failure of the task is not told:", err)
}

func pools() {
	pools := &client.Cloud.K8S.Clusters.Pools
	ofCluster := func(name string) cloud.K8SClusterPoolNewParams {
		return cloud.K8SClusterPoolNewParams{
			Name: name, FlavorID: largerFlavor, MinNodeCount: 1, MaxNodeCount: num(3), BootVolumeSize: num(50),
			BootVolumeType:    cloud.K8SClusterPoolNewParamsBootVolumeTypeSsdHiiops,
			ServergroupPolicy: cloud.K8SClusterPoolNewParamsServergroupPolicyAntiAffinity, Labels: map[string]string{"tier": name},
		}
	}
	must(got(pools.CheckQuota(ctx, cloud.K8SClusterPoolCheckQuotaParams{FlavorID: largerFlavor, NodeCount: num(1)})) != nil)
	same(got(pools.NewAndPoll(ctx, "walk", ofCluster("extra"))).NodeCount, 1)
	same(len(got(pools.List(ctx, "walk", cloud.K8SClusterPoolListParams{})).Results), 2)
	changed := got(pools.Update(ctx, "extra", cloud.K8SClusterPoolUpdateParams{
		ClusterName: "walk", AutoHealingEnabled: yes, MaxNodeCount: num(4),
	}))
	same(changed.MaxNodeCount, 4)
	same(got(pools.ResizeAndPoll(ctx, "extra", cloud.K8SClusterPoolResizeParams{ClusterName: "walk", NodeCount: 2})).NodeCount, 2)
	finished(pools.Resize(ctx, "extra", cloud.K8SClusterPoolResizeParams{ClusterName: "walk", NodeCount: 3}))
	nodes := got(pools.Nodes.List(ctx, "extra", cloud.K8SClusterPoolNodeListParams{ClusterName: "walk", WithDDOS: yes})).Results
	same(len(nodes), 3)
	same(len(got(client.Cloud.K8S.Clusters.Nodes.List(ctx, "walk", cloud.K8SClusterNodeListParams{})).Results), 4)
	done(pools.Nodes.Delete(ctx, nodes[0].ID, cloud.K8SClusterPoolNodeDeleteParams{ClusterName: "walk", PoolName: "extra"}))
	done(client.Cloud.K8S.Clusters.Nodes.Delete(ctx, nodes[1].ID, cloud.K8SClusterNodeDeleteParams{ClusterName: "walk"}))
	done(pools.DeleteAndPoll(ctx, "extra", cloud.K8SClusterPoolDeleteParams{ClusterName: "walk"}))
	refused(404, second(impatient.Cloud.K8S.Clusters.Pools.Get(ctx, "extra", cloud.K8SClusterPoolGetParams{ClusterName: "walk"})))
	finished(pools.New(ctx, "walk", ofCluster("third")))
	got(pools.Get(ctx, "third", cloud.K8SClusterPoolGetParams{ClusterName: "walk"}))
	finished(pools.Delete(ctx, "third", cloud.K8SClusterPoolDeleteParams{ClusterName: "walk"}))
	flavors := got(client.Cloud.K8S.Flavors.List(ctx, cloud.K8SFlavorListParams{ExcludeGPU: yes, IncludePrices: yes, IncludeCapacity: yes}))
	must(len(flavors.Results) > 0)
}

func removalOfClusters() {
	clusters := &client.Cloud.K8S.Clusters
	finished(clusters.New(ctx, cloud.K8SClusterNewParams{
		Name: "walk2", Version: version, Keypair: made.key, Pools: []cloud.K8SClusterNewParamsPool{poolOfCluster("web")},
	}))
	done(clusters.DeleteAndPoll(ctx, "walk", cloud.K8SClusterDeleteParams{}))
	finished(clusters.Delete(ctx, "walk2", cloud.K8SClusterDeleteParams{}))
	refused(404, second(impatient.Cloud.K8S.Clusters.Get(ctx, "walk", cloud.K8SClusterGetParams{})))
}
