"""A headless Chromium, driven over the WebDriver protocol by chromedriver."""
import json
import re
import subprocess
import urllib.error
import urllib.request

ARROW_RIGHT, ARROW_LEFT, HOME, END = '\ue014', '\ue012', '\ue011', '\ue010'
TAB, ENTER = '\ue004', '\ue007'


class Browser:
    """Use it in `with`. Nothing of it is left behind."""

    def __init__(self, width=390, height=844):
        # Port 0: any that is free; the line that says which is waited for.
        self.driver = subprocess.Popen(
            ['chromedriver', '--port=0'], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.session = ''
        for line in self.driver.stdout:
            match = re.search(r'successfully on port (\d+)', line)
            if match:
                self.base = f'http://127.0.0.1:{match[1]}/session'
                break
        else:
            raise RuntimeError('chromedriver ended before it listened')
        try:
            self._open(width, height)
        except Exception:
            self.close()
            raise

    def _open(self, width, height):
        options = {'args': ['--headless', '--no-sandbox', '--disable-gpu',
                            '--disable-dev-shm-usage',
                            f'--window-size={width},{height}']}
        answer = self._call('', {'capabilities': {'alwaysMatch': {
            'goog:chromeOptions': options,
            'goog:loggingPrefs': {'browser': 'ALL'}}}})
        self.session = '/' + answer['sessionId']
        # A desktop's window is never as narrow as a phone: emulate one.
        self.cdp('Emulation.setDeviceMetricsOverride', width=width,
                 height=height, deviceScaleFactor=1, mobile=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the browser and its driver."""
        try:
            if self.session:
                self._call(self.session, method='DELETE')
        finally:
            self.driver.terminate()
            self.driver.wait(20)
            self.driver.stdout.close()

    def _call(self, path, body=None, method='POST'):
        data = None if method != 'POST' else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self.base + path, data, {'Content-Type': 'application/json'},
            method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:500]) from error

    def open(self, address):
        """Loads a page."""
        self._call(self.session + '/url', {'url': address})

    def run(self, script, *arguments):
        """The value of a piece of JavaScript with `return`."""
        return self._call(self.session + '/execute/sync',
                          {'script': script, 'args': arguments})

    def press(self, key):
        """A key on the keyboard, as the user's finger does it."""
        self._call(self.session + '/actions', {'actions': [
            {'type': 'key', 'id': 'keyboard', 'actions': [
                {'type': 'keyDown', 'value': key},
                {'type': 'keyUp', 'value': key}]}]})

    def messages(self):
        """What the browser's console says: errors and all."""
        return self._call(self.session + '/se/log', {'type': 'browser'})

    def cdp(self, command, **parameters):
        """A command of the DevTools protocol."""
        return self._call(self.session + '/goog/cdp/execute',
                          {'cmd': command, 'params': parameters})
