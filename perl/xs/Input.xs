MODULE = Bytewright    PACKAGE = Bytewright::Input

void
_of_bytes(given)
    SV *given
PPCODE:
    SV *plain_given = plain(given, "input");
    const bw_slice slice = bytes(aTHX_ plain_given, FALSE, "input");
    Input *input;
    Newxz(input, 1, Input);
    PUSHs(object(aTHX_ "Bytewright::Input", &input_kind, input));
    input->name = "bytes";
    input->bring = bring_bytes;
    input->is_tainted = TAINTING_get && SvTAINTED(plain_given);
    input->source = newSVpvn(slice.len ? (const char *)slice.data : "", slice.len);

void
_of_handle(handle, descriptor)
    SV *handle
    int descriptor
PPCODE:
    Input *input;
    Newxz(input, 1, Input);
    PUSHs(object(aTHX_ "Bytewright::Input", &input_kind, input));
    input->name = "handle";
    input->bring = bring_from_descriptor;
    input->descriptor = descriptor;
    input->is_tainted = TRUE;
    input->source = newSVsv(handle);
