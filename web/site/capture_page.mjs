// The page that opens a capture; its script is web/page/capture_page.js.
export const capturePage = () => ({place: 'web/capture.html', title: 'Open a capture', styled: true,
	html: `<h1>Open a capture</h1>
<p>A capture of RoCE v2 (pcap or pcapng, from tcpdump or Wireshark) becomes the ladder of this book,
with what happened in it in sentences, and where this book explains it. The file stays in this
browser: the page may not send anything anywhere.</p>
<noscript><p class="note">Without JavaScript, <code>scripts/wire.sh --read FILE</code> prints the packets.</p></noscript>
<div class="drop later" hidden><label>Drop a file here, or choose one: <input type="file" accept=".pcap,.pcapng,.cap,.dmp"></label></div>
<p class="state" role="status"></p>
<ul class="happened" aria-label="What happened"></ul>
<div class="crossed"></div>
<p>How to make one: <code>tcpdump -i eth0 -w mine.pcap udp port 4791 or tcp</code>. With a card, packets go
past the kernel, and <code>tcpdump</code> sees them only on the RDMA device
(<code>-i mlx5_0</code>) or on a port that a switch mirrors.</p>`});
