"""signal and socket, without enumerations of their constants: to make these takes longer
than a short command takes."""
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    import socket
else:
    import _signal as signal
    import _socket as socket

__all__ = ['signal', 'socket']
