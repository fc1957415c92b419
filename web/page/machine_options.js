// What the emulated machine is like. The picture of its memory fits this machine
// and no other, so the script that takes it and the page share this.
export const machineOptions = {
	memory_size: 96 * 1024 * 1024,
	vga_memory_size: 1024 * 1024,
	autostart: true,
	disable_keyboard: true,
	disable_mouse: true,
	disable_speaker: true,
	// serial0 is the terminal; see rootfs/init for the other two.
	uart1: true,
	uart2: true,
	net_device: {type: 'ne2k'},
	preserve_mac_from_state_image: true,
	filesystem: {},
};
