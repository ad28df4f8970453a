package clients

import "github.com/G-Core/gcore-go/cloud"

func newVolume(name string, size int64) cloud.VolumeNewParams {
	return cloud.VolumeNewParams{OfNewVolume: &cloud.VolumeNewParamsBodyNewVolume{
		Name: name, Size: size, TypeName: "standard", Tags: map[string]string{"a": "b"},
	}}
}

func volumes() {
	volumes := &client.Cloud.Volumes
	volume := got(volumes.NewAndPoll(ctx, newVolume("walk disk", 5)))
	task := finished(volumes.New(ctx, newVolume("walk disk two", 1)))
	two := only(task.CreatedResources.Volumes)
	part := cloud.VolumeListParams{NamePart: str("walk disk"), Limit: num(1)}
	same(len(got(volumes.List(ctx, part)).Results), 1)
	same(len(all(volumes.ListAutoPaging(ctx, part))), 2)
	text := "d"
	renamed := got(volumes.Update(ctx, two, cloud.VolumeUpdateParams{Name: str("walk disk 2"), Tags: cloud.TagUpdateMap{"c": &text}}))
	same(renamed.Name, "walk disk 2")
	same(got(volumes.ResizeAndPoll(ctx, volume.ID, cloud.VolumeResizeParams{Size: 6})).Size, 6)
	finished(volumes.Resize(ctx, volume.ID, cloud.VolumeResizeParams{Size: 7}))
	retyped := got(volumes.ChangeType(ctx, two, cloud.VolumeChangeTypeParams{
		VolumeType: cloud.VolumeChangeTypeParamsVolumeTypeSsdHiiops,
	}))
	same(retyped.VolumeType, "ssd_hiiops")
	refused(400, second(impatient.Cloud.Volumes.Resize(ctx, volume.ID, cloud.VolumeResizeParams{Size: 1})))
	made.volume, made.secondVolume = got(volumes.Get(ctx, volume.ID, cloud.VolumeGetParams{})).ID, two
}

func snapshots() {
	snapshots := &client.Cloud.VolumeSnapshots
	snapshot := got(snapshots.NewAndPoll(ctx, cloud.VolumeSnapshotNewParams{
		Name: "walk snapshot", VolumeID: made.volume, Description: str("walk"),
	}))
	task := finished(snapshots.New(ctx, cloud.VolumeSnapshotNewParams{Name: "walk snapshot two", VolumeID: made.volume}))
	two := only(task.CreatedResources.Snapshots)
	same(got(snapshots.Update(ctx, snapshot.ID, cloud.VolumeSnapshotUpdateParams{Name: str("walk snap")})).Name, "walk snap")
	done(client.Cloud.Volumes.RevertToLastSnapshot(ctx, made.volume, cloud.VolumeRevertToLastSnapshotParams{}))
	restored := got(client.Cloud.Volumes.NewAndPoll(ctx, cloud.VolumeNewParams{OfSnapshot: &cloud.VolumeNewParamsBodySnapshot{
		Name: "walk restored", SnapshotID: snapshot.ID, Size: num(7),
	}}))
	done(client.Cloud.Volumes.DeleteAndPoll(ctx, restored.ID, cloud.VolumeDeleteParams{}))
	done(snapshots.DeleteAndPoll(ctx, two, cloud.VolumeSnapshotDeleteParams{}))
	same(got(snapshots.Get(ctx, snapshot.ID, cloud.VolumeSnapshotGetParams{})).Name, "walk snap")
	finished(snapshots.Delete(ctx, snapshot.ID, cloud.VolumeSnapshotDeleteParams{}))
	refused(404, second(impatient.Cloud.VolumeSnapshots.Get(ctx, snapshot.ID, cloud.VolumeSnapshotGetParams{})))
}

func images() {
	images := &client.Cloud.Instances.Images
	for _, one := range got(images.List(ctx, cloud.InstanceImageListParams{Limit: num(5)})).Results {
		if one.OsType == cloud.ImageOsTypeLinux && !one.IsBaremetal {
			made.image = one.ID
			break
		}
	}
	same(got(images.Get(ctx, made.image, cloud.InstanceImageGetParams{IncludePrices: yes})).ID, made.image)
	boot := got(client.Cloud.Volumes.NewAndPoll(ctx, cloud.VolumeNewParams{OfImage: &cloud.VolumeNewParamsBodyImage{
		Name: "walk boot", Size: 20, ImageID: made.image,
	}}))
	image := got(images.NewFromVolumeAndPoll(ctx, cloud.InstanceImageNewFromVolumeParams{
		Name: "walk image", VolumeID: boot.ID, OsType: cloud.InstanceImageNewFromVolumeParamsOsTypeLinux,
		SSHKey: cloud.InstanceImageNewFromVolumeParamsSSHKeyAllow, Source: cloud.InstanceImageNewFromVolumeParamsSourceVolume,
		Architecture: cloud.InstanceImageNewFromVolumeParamsArchitectureX86_64,
	}))
	same(got(images.Update(ctx, image.ID, cloud.InstanceImageUpdateParams{Name: str("walk image one")})).Name, "walk image one")
	private := cloud.InstanceImageListParams{Visibility: cloud.InstanceImageListParamsVisibilityPrivate}
	same(only(got(images.List(ctx, private)).Results).ID, image.ID)
	task := finished(images.NewFromVolume(ctx, cloud.InstanceImageNewFromVolumeParams{Name: "walk image two", VolumeID: boot.ID}))
	done(images.DeleteAndPoll(ctx, only(task.CreatedResources.Images), cloud.InstanceImageDeleteParams{}))
	afar := cloud.InstanceImageUploadParams{
		Name: "walk afar", URL: "https://images.example.com/walk.qcow2", OsDistro: str("debian"), CowFormat: yes,
		OsType: cloud.InstanceImageUploadParamsOsTypeLinux,
	}
	uploaded := only(finished(images.Upload(ctx, afar)).CreatedResources.Images)
	done(images.DeleteAndPoll(ctx, uploaded, cloud.InstanceImageDeleteParams{}))
	same(got(images.UploadAndPoll(ctx, afar)).OsDistro, "debian")
	finished(images.Delete(ctx, image.ID, cloud.InstanceImageDeleteParams{}))
	finished(client.Cloud.Volumes.Delete(ctx, boot.ID, cloud.VolumeDeleteParams{}))
}

// shares makes a share of the default type in a region that has such shares, and a vast one where these are.
func shares() {
	shares, elsewhere := &client.Cloud.FileShares, num(2)
	network := got(client.Cloud.Networks.NewAndPoll(ctx, cloud.NetworkNewParams{Name: "walk share net", RegionID: elsewhere}))
	got(client.Cloud.Networks.Subnets.NewAndPoll(ctx, cloud.NetworkSubnetNewParams{
		Name: "walk share subnet", NetworkID: network.ID, Cidr: "10.7.0.0/24", RegionID: elsewhere,
	}))
	share := got(shares.NewAndPoll(ctx, cloud.FileShareNewParams{
		RegionID: elsewhere,
		OfCreateStandardFileShareSerializer: &cloud.FileShareNewParamsBodyCreateStandardFileShareSerializer{
			Name: "walk share", Size: 10,
			Network: cloud.FileShareNewParamsBodyCreateStandardFileShareSerializerNetwork{NetworkID: network.ID},
		},
	}))
	task := finished(shares.New(ctx, cloud.FileShareNewParams{
		OfCreateVastFileShareSerializer: &cloud.FileShareNewParamsBodyCreateVastFileShareSerializer{
			Name: "walk vast", Size: 10, TypeName: "vast",
		},
	}))
	vast := only(task.CreatedResources.FileShares)
	one := cloud.FileShareListParams{Limit: num(1)}
	same(only(got(shares.List(ctx, one)).Results).ID, vast)
	same(only(all(shares.ListAutoPaging(ctx, one))).ID, vast)
	renamed := got(shares.UpdateAndPoll(ctx, share.ID, cloud.FileShareUpdateParams{Name: str("walk share one"), RegionID: elsewhere}))
	same(renamed.Name, "walk share one")
	got(shares.UpdateAndPoll(ctx, share.ID, cloud.FileShareUpdateParams{Name: str("walk share one"), RegionID: elsewhere}))
	text := "b"
	finished(shares.Update(ctx, share.ID, cloud.FileShareUpdateParams{Tags: cloud.TagUpdateMap{"a": &text}, RegionID: elsewhere}))
	same(got(shares.ResizeAndPoll(ctx, share.ID, cloud.FileShareResizeParams{Size: 11, RegionID: elsewhere})).Size, 11)
	finished(shares.Resize(ctx, vast, cloud.FileShareResizeParams{Size: 12}))
	rule := got(shares.AccessRules.New(ctx, share.ID, cloud.FileShareAccessRuleNewParams{
		IPAddress: "10.7.0.0/24", AccessMode: cloud.FileShareAccessRuleNewParamsAccessModeRo, RegionID: elsewhere,
	}))
	listed := got(shares.AccessRules.List(ctx, share.ID, cloud.FileShareAccessRuleListParams{RegionID: elsewhere}))
	same(only(listed.Results).ID, rule.ID)
	done(shares.AccessRules.Delete(ctx, rule.ID, cloud.FileShareAccessRuleDeleteParams{FileShareID: share.ID, RegionID: elsewhere}))
	got(shares.Get(ctx, vast, cloud.FileShareGetParams{}))
	done(shares.DeleteAndPoll(ctx, share.ID, cloud.FileShareDeleteParams{RegionID: elsewhere}))
	refused(404, second(impatient.Cloud.FileShares.Get(ctx, share.ID, cloud.FileShareGetParams{RegionID: elsewhere})))
	finished(shares.Delete(ctx, vast, cloud.FileShareDeleteParams{}))
}
