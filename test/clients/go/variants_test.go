package clients

import "github.com/G-Core/gcore-go/cloud"

// variants sends the forms of bodies that the other steps don't, and has the server refuse what it doesn't know.
func variants() {
	networks, reserved, volumes := &client.Cloud.Networks, &client.Cloud.ReservedFixedIPs, &client.Cloud.Volumes
	network := got(networks.NewAndPoll(ctx, cloud.NetworkNewParams{Name: "walk forms", Type: cloud.NetworkNewParamsTypeVxlan}, strict)).ID
	subnet := got(networks.Subnets.NewAndPoll(ctx, cloud.NetworkSubnetNewParams{
		Name: "walk forms", NetworkID: network, Cidr: "10.60.0.0/24", ConnectToNetworkRouter: yes,
		HostRoutes: []cloud.NetworkSubnetNewParamsHostRoute{{Destination: "10.61.0.0/24", Nexthop: "10.60.0.9"}},
	}, strict)).ID
	anywhere := got(reserved.NewAndPoll(ctx, cloud.ReservedFixedIPNewParams{
		OfAnySubnet: &cloud.ReservedFixedIPNewParamsBodyAnySubnet{NetworkID: network, IPFamily: cloud.InterfaceIPFamilyIpv4, IsVip: no},
	}, strict))
	exactly := got(reserved.NewAndPoll(ctx, cloud.ReservedFixedIPNewParams{
		OfIPAddress: &cloud.ReservedFixedIPNewParamsBodyIPAddress{NetworkID: network, IPAddress: "10.60.0.77"},
	}, strict))
	same(exactly.FixedIPAddress, "10.60.0.77")

	boot := got(volumes.NewAndPoll(ctx, cloud.VolumeNewParams{OfImage: &cloud.VolumeNewParamsBodyImage{
		Name: "walk boot", Size: 20, ImageID: made.image, TypeName: "ssd_hiiops", Tags: map[string]string{"a": "b"},
	}}, strict))
	snapshot := got(client.Cloud.VolumeSnapshots.NewAndPoll(ctx, cloud.VolumeSnapshotNewParams{Name: "walk forms", VolumeID: boot.ID}, strict))
	address := got(client.Cloud.FloatingIPs.NewAndPoll(ctx, cloud.FloatingIPNewParams{}, strict))
	instance := got(client.Cloud.Instances.NewAndPoll(ctx, cloud.InstanceNewParams{
		Flavor: flavor, Name: str("walk forms"), Username: str("walker"), Password: str("Walk-4711-forms"), AllowAppPorts: no,
		UserData: str("I2Nsb3VkLWNvbmZpZwo="),
		Volumes: []cloud.InstanceNewParamsVolumeUnion{
			{OfExistingVolume: &cloud.InstanceNewParamsVolumeExistingVolume{VolumeID: boot.ID, BootIndex: num(0), DeleteOnTermination: yes}},
			{OfSnapshot: &cloud.InstanceNewParamsVolumeSnapshot{SnapshotID: snapshot.ID, Size: 20, DeleteOnTermination: yes}},
			{OfNewVolume: &cloud.InstanceNewParamsVolumeNewVolume{Size: 1, Name: str("walk data"), TypeName: "standard", DeleteOnTermination: yes}},
		},
		Interfaces: []cloud.InstanceNewParamsInterfaceUnion{
			{OfReservedFixedIP: &cloud.InstanceNewParamsInterfaceReservedFixedIP{
				PortID: exactly.PortID, InterfaceName: str("first"),
				FloatingIP: cloud.InstanceNewParamsInterfaceReservedFixedIPFloatingIPUnion{
					OfExisting: &cloud.InstanceNewParamsInterfaceReservedFixedIPFloatingIPExisting{ExistingFloatingID: address.ID},
				},
			}},
			{OfAnySubnet: &cloud.InstanceNewParamsInterfaceAnySubnet{
				NetworkID: network, IPFamily: cloud.InterfaceIPFamilyIpv4,
				FloatingIP: cloud.InstanceNewParamsInterfaceAnySubnetFloatingIPUnion{
					OfNew: &cloud.InstanceNewParamsInterfaceAnySubnetFloatingIPNew{},
				},
			}},
			{OfExternal: &cloud.InstanceNewParamsInterfaceExternal{IPFamily: cloud.InterfaceIPFamilyDual}},
		},
	}, strict))
	same(len(instance.Volumes), 3)
	interfaces := &client.Cloud.Instances.Interfaces
	finished(interfaces.Attach(ctx, instance.ID, cloud.InstanceInterfaceAttachParams{
		OfNewInterfaceReservedFixedIPSchema: &cloud.InstanceInterfaceAttachParamsBodyNewInterfaceReservedFixedIPSchema{
			PortID: anywhere.PortID, Type: str("reserved_fixed_ip"),
		},
	}, strict))
	finished(interfaces.Attach(ctx, instance.ID, cloud.InstanceInterfaceAttachParams{
		OfNewInterfaceExternalExtendSchemaWithDDOS: &cloud.InstanceInterfaceAttachParamsBodyNewInterfaceExternalExtendSchemaWithDDOS{
			Type: str("external"), IPFamily: "ipv4",
		},
	}, strict))
	same(len(got(interfaces.List(ctx, instance.ID, cloud.InstanceInterfaceListParams{})).Results), 5)
	for _, action := range []string{"reboot", "reboot_hard", "suspend", "resume"} {
		got(client.Cloud.Instances.ActionAndPoll(ctx, instance.ID, cloud.InstanceActionParams{
			OfBasicActionInstanceSerializer: &cloud.InstanceActionParamsBodyBasicActionInstanceSerializer{Action: action},
		}, strict))
	}
	done(client.Cloud.Instances.DeleteAndPoll(ctx, instance.ID, cloud.InstanceDeleteParams{DeleteFloatings: yes}))
	lists()
	balancerForms(network, subnet)
}

// lists filters and sorts lists by what the other steps don't.
func lists() {
	for _, order := range []cloud.InstanceListParamsOrderBy{"created.asc", "status.desc"} {
		got(client.Cloud.Instances.List(ctx, cloud.InstanceListParams{
			OrderBy: order, IncludeK8S: yes, IncludeBaremetal: yes, IncludeAI: no, WithDDOS: yes, WithInterfacesName: yes,
			ExcludeFlavorPrefix: str("bm"), Status: cloud.InstanceListParamsStatusActive, TagKeyValue: str(`{"a": "b"}`),
			AvailableFloating: yes, ProtectionStatus: cloud.InstanceListParamsProtectionStatusActive,
		}))
	}
	got(client.Cloud.Volumes.List(ctx, cloud.VolumeListParams{Bootable: yes, HasAttachments: no, IDPart: str("a"), ClusterID: str("none")}))
	got(client.Cloud.Networks.List(ctx, cloud.NetworkListParams{NetworkType: "vlan", OrderBy: cloud.NetworkListParamsOrderByCreatedAtDesc}))
	got(client.Cloud.LoadBalancers.List(ctx, cloud.LoadBalancerListParams{
		AssignedFloating: yes, LoggingEnabled: no, WithDDOS: yes, OrderBy: cloud.LoadBalancerListParamsOrderByCreatedAtAsc,
		OperatingStatus: cloud.LoadBalancerOperatingStatusOnline, ProvisioningStatus: cloud.ProvisioningStatusActive,
	}))
	got(client.Cloud.ReservedFixedIPs.List(ctx, cloud.ReservedFixedIPListParams{
		InternalOnly: yes, AvailableOnly: yes, OrderBy: cloud.ReservedFixedIPListParamsOrderByStatusDesc,
	}))
	got(client.Cloud.Regions.List(ctx, cloud.RegionListParams{Product: cloud.RegionListParamsProductContainers}))
	got(client.Cloud.Instances.Flavors.List(ctx, cloud.InstanceFlavorListParams{Disabled: yes, ExcludeLinux: no, ExcludeWindows: yes}))
	got(client.Cloud.FileShares.List(ctx, cloud.FileShareListParams{TypeName: cloud.FileShareListParamsTypeNameVast}))
	got(client.Cloud.Instances.Images.List(ctx, cloud.InstanceImageListParams{Private: str("true")}))
}

func balancerForms(network, subnet string) {
	balancers := &client.Cloud.LoadBalancers
	balancer := got(balancers.NewAndPoll(ctx, cloud.LoadBalancerNewParams{
		Name: "walk forms", VipNetworkID: str(network), VipSubnetID: str(subnet), VipIPFamily: cloud.InterfaceIPFamilyIpv4,
		PreferredConnectivity: cloud.LoadBalancerMemberConnectivityL2,
		Logging:               cloud.LoadBalancerNewParamsLogging{Enabled: no},
	}, strict))
	listener := got(balancers.Listeners.NewAndPoll(ctx, cloud.LoadBalancerListenerNewParams{
		Name: "walk forms", LoadBalancerID: balancer.ID, Protocol: cloud.LbListenerProtocolHTTP, ProtocolPort: 80,
		InsertXForwarded: yes, TimeoutClientData: num(50000), TimeoutMemberConnect: num(5000), TimeoutMemberData: num(50000),
		ConnectionLimit: num(1000), UserList: []cloud.LoadBalancerListenerNewParamsUserList{},
	}, strict))
	pool := got(balancers.Pools.NewAndPoll(ctx, cloud.LoadBalancerPoolNewParams{
		Name: "walk forms", ListenerID: str(listener.ID), Protocol: cloud.LbPoolProtocolHTTP, LbAlgorithm: cloud.LbAlgorithmLeastConnections,
		Healthmonitor: cloud.LoadBalancerPoolNewParamsHealthmonitor{
			Type: cloud.LbHealthMonitorTypeHTTP, Delay: 10, Timeout: 5, MaxRetries: 2, MaxRetriesDown: num(3), HTTPMethod: cloud.HTTPMethodGet,
			URLPath: str("/"), ExpectedCodes: str("200-299"), AdminStateUp: yes,
		},
		SessionPersistence: cloud.LoadBalancerPoolNewParamsSessionPersistence{
			Type: cloud.LbSessionPersistenceTypeAppCookie, CookieName: str("walk"),
		},
		Members: []cloud.LoadBalancerPoolNewParamsMember{
			{Address: "10.60.0.50", ProtocolPort: 80, Weight: num(2), AdminStateUp: yes, MonitorAddress: str("10.60.0.51"), MonitorPort: num(81)},
		},
	}, strict))
	same(pool.SessionPersistence.CookieName, "walk")
	changed := got(balancers.Pools.UpdateAndPoll(ctx, pool.ID, cloud.LoadBalancerPoolUpdateParams{
		SessionPersistence: cloud.LoadBalancerPoolUpdateParamsSessionPersistence{Type: cloud.LbSessionPersistenceTypeSourceIP},
		Members:            []cloud.LoadBalancerPoolUpdateParamsMember{{Address: "10.60.0.52", ProtocolPort: 80}},
		Healthmonitor:      cloud.LoadBalancerPoolUpdateParamsHealthmonitor{Delay: 20, Timeout: 5, MaxRetries: 2},
	}, strict))
	same(only(changed.Members).Address, "10.60.0.52")
	policies := &balancers.L7Policies
	policy := got(policies.NewAndPoll(ctx, cloud.LoadBalancerL7PolicyNewParams{
		OfRedirectPrefix: &cloud.LoadBalancerL7PolicyNewParamsBodyRedirectPrefix{
			ListenerID: listener.ID, RedirectPrefix: "https://www.example.com", RedirectHTTPCode: 301, Position: num(1),
		},
	}, strict))
	got(policies.UpdateAndPoll(ctx, policy.ID, cloud.LoadBalancerL7PolicyUpdateParams{
		OfRedirectToPool: &cloud.LoadBalancerL7PolicyUpdateParamsBodyRedirectToPool{RedirectPoolID: pool.ID},
	}, strict))
	got(policies.UpdateAndPoll(ctx, policy.ID, cloud.LoadBalancerL7PolicyUpdateParams{
		OfReject: &cloud.LoadBalancerL7PolicyUpdateParamsBodyReject{Name: str("walk")},
	}, strict))
	done(balancers.DeleteAndPoll(ctx, balancer.ID, cloud.LoadBalancerDeleteParams{}))
}
