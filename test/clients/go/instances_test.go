package clients

import (
	"strings"

	"github.com/G-Core/gcore-go/cloud"
	"github.com/G-Core/gcore-go/packages/param"
)

const flavor, largerFlavor = "g1-standard-1-2", "g1-standard-2-4"

func bootVolume() []cloud.InstanceNewParamsVolumeUnion {
	return []cloud.InstanceNewParamsVolumeUnion{{OfImage: &cloud.InstanceNewParamsVolumeImage{
		ImageID: made.image, Size: num(20), BootIndex: num(0),
	}}}
}

func instances() {
	instances := &client.Cloud.Instances
	flavors := got(instances.Flavors.List(ctx, cloud.InstanceFlavorListParams{IncludePrices: yes, Limit: num(5)}))
	must(len(flavors.Results) > 0)
	instance := got(instances.NewAndPoll(ctx, cloud.InstanceNewParams{
		Flavor: flavor, Name: str("walk one"), SSHKeyName: str(made.key), Tags: map[string]string{"env": "walk"},
		Volumes: bootVolume(), SecurityGroups: []cloud.InstanceNewParamsSecurityGroup{{ID: made.group}},
		Interfaces: []cloud.InstanceNewParamsInterfaceUnion{{OfSubnet: &cloud.InstanceNewParamsInterfaceSubnet{
			NetworkID: made.network, SubnetID: made.subnet,
		}}},
	}))
	same(instance.Status, cloud.InstanceStatusActive)
	task := finished(instances.New(ctx, cloud.InstanceNewParams{
		Flavor: flavor, NameTemplate: str("walk-{ip_octets}"), Volumes: bootVolume(),
		Interfaces: []cloud.InstanceNewParamsInterfaceUnion{{OfExternal: &cloud.InstanceNewParamsInterfaceExternal{}}},
	}))
	two := only(task.CreatedResources.Instances)
	order := cloud.InstanceListParams{Limit: num(1), OrderBy: cloud.InstanceListParamsOrderByNameAsc}
	same(len(got(instances.List(ctx, order)).Results), 1)
	same(len(all(instances.ListAutoPaging(ctx, order))), 2)
	updated := got(instances.Update(ctx, instance.ID, cloud.InstanceUpdateParams{Name: str("walk 1"), Tags: cloud.TagUpdateMap{"env": nil}}))
	same(updated.Name, "walk 1")
	stopped := got(instances.ActionAndPoll(ctx, instance.ID, cloud.InstanceActionParams{
		OfBasicActionInstanceSerializer: &cloud.InstanceActionParamsBodyBasicActionInstanceSerializer{Action: "stop"},
	}))
	same(stopped.Status, cloud.InstanceStatusShutoff)
	resized := got(instances.ResizeAndPoll(ctx, instance.ID, cloud.InstanceResizeParams{FlavorID: largerFlavor}))
	same(resized.Flavor.FlavorID, largerFlavor)
	finished(instances.Resize(ctx, instance.ID, cloud.InstanceResizeParams{FlavorID: flavor}))
	finished(instances.Action(ctx, instance.ID, cloud.InstanceActionParams{
		OfStartActionInstanceSerializer: &cloud.InstanceActionParamsBodyStartActionInstanceSerializer{},
	}))
	same(got(instances.Get(ctx, instance.ID, cloud.InstanceGetParams{})).Status, cloud.InstanceStatusActive)
	none := refused(400, second(impatient.Cloud.Instances.GetConsole(ctx, instance.ID, cloud.InstanceGetConsoleParams{})))
	must(strings.Contains(none.RawJSON(), "simulated"), "refused for something else than that simulated machines have none: ", none.RawJSON())
	metrics := got(instances.Metrics.List(ctx, instance.ID, cloud.InstanceMetricListParams{
		TimeInterval: 1, TimeUnit: cloud.InstanceMetricsTimeUnitHour, Limit: num(10),
	}))
	same(int(metrics.Count), len(metrics.Results))
	made.instance, made.publicInstance = instance.ID, two
}

func groupsOfInstance() {
	instances := &client.Cloud.Instances
	other := got(client.Cloud.SecurityGroups.NewAndPoll(ctx, cloud.SecurityGroupNewParams{Name: "walk other"}))
	done(instances.AssignSecurityGroup(ctx, made.instance, cloud.InstanceAssignSecurityGroupParams{Name: str(other.Name)}))
	names := map[string]bool{}
	for _, one := range got(instances.Get(ctx, made.instance, cloud.InstanceGetParams{})).SecurityGroups {
		names[one.Name] = true
	}
	must(names[other.Name], "the group isn't assigned")
	done(instances.UnassignSecurityGroup(ctx, made.instance, cloud.InstanceUnassignSecurityGroupParams{Name: str(other.Name)}))
	done(client.Cloud.SecurityGroups.Delete(ctx, other.ID, cloud.SecurityGroupDeleteParams{}))
}

func volumesOfInstance() {
	volumes := &client.Cloud.Volumes
	attach := cloud.VolumeAttachToInstanceParams{InstanceID: made.instance}
	detach := cloud.VolumeDetachFromInstanceParams{InstanceID: made.instance}
	done(volumes.AttachToInstanceAndPoll(ctx, made.volume, attach))
	same(got(volumes.Get(ctx, made.volume, cloud.VolumeGetParams{})).Status, cloud.VolumeStatusInUse)
	same(len(all(volumes.ListAutoPaging(ctx, cloud.VolumeListParams{InstanceID: str(made.instance)}))), 2)
	done(volumes.DetachFromInstanceAndPoll(ctx, made.volume, detach))
	finished(volumes.AttachToInstance(ctx, made.secondVolume, attach))
	finished(volumes.DetachFromInstance(ctx, made.secondVolume, detach))
}

func interfaces() {
	interfaces := &client.Cloud.Instances.Interfaces
	first := only(got(interfaces.List(ctx, made.instance, cloud.InstanceInterfaceListParams{})).Results)
	made.port, made.address = first.PortID, only(first.IPAssignments).IPAddress
	added := func(listed []cloud.NetworkInterface) cloud.InstanceInterfaceDetachParams {
		now.Helper()
		for _, one := range listed {
			if one.PortID != first.PortID {
				return cloud.InstanceInterfaceDetachParams{PortID: one.PortID, IPAddress: one.IPAssignments[0].IPAddress}
			}
		}
		now.Fatal("no interface was added")
		return cloud.InstanceInterfaceDetachParams{}
	}
	listed := got(interfaces.AttachAndPoll(ctx, made.instance, cloud.InstanceInterfaceAttachParams{
		OfNewInterfaceAnySubnetSchema: &cloud.InstanceInterfaceAttachParamsBodyNewInterfaceAnySubnetSchema{
			NetworkID: made.network, Type: str("any_subnet"),
		},
	}))
	same(len(got(interfaces.DetachAndPoll(ctx, made.instance, added(listed.Results))).Results), 1)
	finished(interfaces.Attach(ctx, made.instance, cloud.InstanceInterfaceAttachParams{
		OfNewInterfaceSpecificSubnetSchema: &cloud.InstanceInterfaceAttachParamsBodyNewInterfaceSpecificSubnetSchema{
			SubnetID: made.subnet, Type: str("subnet"),
		},
	}))
	listed = got(interfaces.List(ctx, made.instance, cloud.InstanceInterfaceListParams{}))
	finished(interfaces.Detach(ctx, made.instance, added(listed.Results)))
	instances := &client.Cloud.Instances
	must(!got(instances.DisablePortSecurity(ctx, made.port, cloud.InstanceDisablePortSecurityParams{})).PortSecurityEnabled)
	must(got(instances.EnablePortSecurity(ctx, made.port, cloud.InstanceEnablePortSecurityParams{})).PortSecurityEnabled)
}

func floatingAddresses() {
	floating := &client.Cloud.FloatingIPs
	address := got(floating.NewAndPoll(ctx, cloud.FloatingIPNewParams{Tags: map[string]string{"env": "walk"}}))
	same(address.Status, cloud.FloatingIPStatusDown)
	task := finished(floating.New(ctx, cloud.FloatingIPNewParams{PortID: str(made.port), FixedIPAddress: str(made.address)}))
	two := only(task.CreatedResources.Floatingips)
	tagged := cloud.FloatingIPListParams{TagKey: []string{"env"}, Limit: num(1)}
	same(only(got(floating.List(ctx, tagged)).Results).ID, address.ID)
	listed := only(all(floating.ListAutoPaging(ctx, cloud.FloatingIPListParams{Status: cloud.FloatingIPStatusActive})))
	same(listed.ID, two)
	same(listed.Instance.ID, made.instance)
	same(got(floating.Unassign(ctx, two, cloud.FloatingIPUnassignParams{})).PortID, "")
	same(got(floating.Assign(ctx, two, cloud.FloatingIPAssignParams{PortID: made.port})).PortID, made.port)
	same(got(floating.UpdateAndPoll(ctx, two, cloud.FloatingIPUpdateParams{PortID: param.Null[string]()})).PortID, "")
	got(floating.UpdateAndPoll(ctx, two, cloud.FloatingIPUpdateParams{PortID: param.Null[string]()}))
	text := "b"
	finished(floating.Update(ctx, two, cloud.FloatingIPUpdateParams{Tags: cloud.TagUpdateMap{"a": &text}}))
	got(floating.Get(ctx, two, cloud.FloatingIPGetParams{}))
	done(floating.DeleteAndPoll(ctx, address.ID, cloud.FloatingIPDeleteParams{}))
	finished(floating.Delete(ctx, two, cloud.FloatingIPDeleteParams{}))
	refused(404, second(impatient.Cloud.FloatingIPs.Get(ctx, two, cloud.FloatingIPGetParams{})))
}

func reservedAddresses() {
	reserved := &client.Cloud.ReservedFixedIPs
	address := got(reserved.NewAndPoll(ctx, cloud.ReservedFixedIPNewParams{OfExternal: &cloud.ReservedFixedIPNewParamsBodyExternal{}}))
	must(address.IsExternal)
	task := finished(reserved.New(ctx, cloud.ReservedFixedIPNewParams{
		OfSubnet: &cloud.ReservedFixedIPNewParamsBodySubnet{SubnetID: made.subnet, IsVip: yes},
	}))
	vip := only(task.CreatedResources.Ports)
	outside := cloud.ReservedFixedIPListParams{ExternalOnly: yes, Limit: num(1)}
	same(only(got(reserved.List(ctx, outside)).Results).PortID, address.PortID)
	same(only(all(reserved.ListAutoPaging(ctx, outside))).PortID, address.PortID)
	must(got(reserved.Get(ctx, vip, cloud.ReservedFixedIPGetParams{})).IsVip)
	candidates := got(reserved.Vip.CandidatePorts.List(ctx, vip, cloud.ReservedFixedIPVipCandidatePortListParams{}))
	must(len(candidates.Results) > 0)
	ports := &reserved.Vip.ConnectedPorts
	added := got(ports.Add(ctx, vip, cloud.ReservedFixedIPVipConnectedPortAddParams{PortIDs: []string{made.port}}))
	same(only(added.Results).PortID, made.port)
	same(len(got(ports.List(ctx, vip, cloud.ReservedFixedIPVipConnectedPortListParams{})).Results), 1)
	same(len(got(ports.Replace(ctx, vip, cloud.ReservedFixedIPVipConnectedPortReplaceParams{PortIDs: []string{}})).Results), 0)
	must(!got(reserved.Update(ctx, vip, cloud.ReservedFixedIPUpdateParams{IsVip: false})).IsVip)
	must(got(reserved.Vip.Toggle(ctx, vip, cloud.ReservedFixedIPVipToggleParams{IsVip: true})).IsVip)
	done(reserved.DeleteAndPoll(ctx, vip, cloud.ReservedFixedIPDeleteParams{}))
	finished(reserved.Delete(ctx, address.PortID, cloud.ReservedFixedIPDeleteParams{}))
	refused(404, second(impatient.Cloud.ReservedFixedIPs.Get(ctx, vip, cloud.ReservedFixedIPGetParams{})))
}

func placementGroups() {
	groups, instances := &client.Cloud.PlacementGroups, &client.Cloud.Instances
	group := got(groups.New(ctx, cloud.PlacementGroupNewParams{
		Name: "walk apart", Policy: cloud.PlacementGroupNewParamsPolicyAntiAffinity,
	}))
	spare := got(groups.New(ctx, cloud.PlacementGroupNewParams{Name: "walk together", Policy: cloud.PlacementGroupNewParamsPolicyAffinity}))
	same(len(got(groups.List(ctx, cloud.PlacementGroupListParams{})).Results), 2)
	put := cloud.InstanceAddToPlacementGroupParams{ServergroupID: group.ServergroupID}
	got(instances.AddToPlacementGroupAndPoll(ctx, made.instance, put))
	read := got(groups.Get(ctx, group.ServergroupID, cloud.PlacementGroupGetParams{}))
	same(only(read.Instances).InstanceID, made.instance)
	got(instances.RemoveFromPlacementGroupAndPoll(ctx, made.instance, cloud.InstanceRemoveFromPlacementGroupParams{}))
	finished(instances.AddToPlacementGroup(ctx, made.instance, put))
	finished(instances.RemoveFromPlacementGroup(ctx, made.instance, cloud.InstanceRemoveFromPlacementGroupParams{}))
	finished(groups.Delete(ctx, spare.ServergroupID, cloud.PlacementGroupDeleteParams{}))
	got(instances.AddToPlacementGroupAndPoll(ctx, made.instance, put))
	done(groups.DeleteAndPoll(ctx, group.ServergroupID, cloud.PlacementGroupDeleteParams{}))
}

func removal() {
	instances := &client.Cloud.Instances
	done(instances.DeleteAndPoll(ctx, made.instance, cloud.InstanceDeleteParams{}))
	finished(instances.Delete(ctx, made.publicInstance, cloud.InstanceDeleteParams{}))
	refused(404, second(impatient.Cloud.Instances.Get(ctx, made.instance, cloud.InstanceGetParams{})))
}
